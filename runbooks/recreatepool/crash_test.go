package recreatepool_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
)

// acting are the scenarios in which a run changes the world.
var acting = []string{
	"wedged", "stuck-operation", "quota", "no-capacity", "throttled", "rbac-lag", "pdb-blocked", "pdb-forced",
	"lost-response",
	"node-never-joins", "stand-in-never-joins", "leftover", "leftover-healthy", "two-pools", "busy", "concurrent-writer",
	"recovers-by-itself",
}

// story is a scenario told by one process or by several that follow each other.
type story struct {
	*stage
	dir      string
	watchman *watchman
	start    azuresim.State
	current  *process
}

// tell begins a story in a bubble of virtual time. ARM asks pollers to be slow,
// so that the number of cuts is that of the calls that matter.
func tell(t testing.TB, scenario azuresim.Scenario, dir string) *story {
	scenario.RetryAfter = azuresim.Duration(40 * time.Second)
	scenario.Log.Quiet, scenario.Log.PageSize = true, 4
	scenario.Apps = slices.DeleteFunc(slices.Clone(scenario.Apps), func(app azuresim.App) bool {
		return app.Name == "metrics-server" || app.Name == "konnectivity-agent"
	})
	s := &story{stage: newStage(t, scenario, nil), dir: dir}
	s.brief = true
	s.start = s.world.Snapshot()
	s.watchman = newWatchman(s.stage, dir)
	s.world.Intercept(func(call azuresim.Call) azuresim.Verdict { return s.current.reach(call) })
	return s
}

// process runs the scenario in a process that dies at a point, or lives.
func (s *story) process(at int, how cut) (engine.Result, error) {
	p := newProcess(s.dir)
	p.at, p.how, p.seen = at, how, s.watchman.see
	return s.live(p)
}

func (s *story) live(p *process) (engine.Result, error) {
	ctx, kill := context.WithCancelCause(context.Background())
	defer kill(nil)
	p.kill = kill
	s.current, s.journal = p, p
	result, err := s.run(ctx)
	if p.isDead() {
		return result, errKilled
	}
	return result, err
}

var (
	// whole asks for the sweeps in full, which take minutes: make sweep does.
	whole = flag.Bool("whole", false, "cut runs at every point and try all seeds, not a sample")
	// every and from share the points of a whole sweep among several of them.
	every = flag.Int("every", 1, "with -whole, cut at each nth point only")
	from  = flag.Int("from", 0, "with -every, the first point, counted from 0")
)

// A sample cuts each scenario at a few points, spread over the whole run: undisturbed runs are most of what it costs.
const sampledPoints = 3

func TestCrashAnywhere(t *testing.T) {
	var cuts atomic.Int64
	t.Cleanup(func() { t.Logf("%d cuts tried", cuts.Load()) })
	shares := 1
	if *whole {
		shares = crashShares
	}
	for _, name := range acting {
		scenario := load(t, name)
		for share := range shares {
			t.Run(fmt.Sprintf("%s/%d", name, share+1), func(t *testing.T) {
				t.Parallel()
				cuts.Add(crashAt(t, scenario, share))
			})
		}
	}
}

// crashShares is into how many parts a scenario's cuts are shared, so that the
// longest one doesn't run alone at the end.
const crashShares = 4

// crashAt cuts the scenario at every point of a share, which are counted from 0, or at a sample of them, and gives the
// number of cuts.
func crashAt(t *testing.T, scenario azuresim.Scenario, share int) (cuts int64) {
	writes := findPoints(t, scenario)
	stride := max(1, *every) * crashShares
	first := *from%max(1, *every)*crashShares + share
	if !*whole {
		stride = max(1, len(writes)/sampledPoints)
		first = stride / 2
	}
	for at := first; at < len(writes) && !t.Failed(); at += stride {
		for _, how := range []cut{before, after, torn} {
			if how == torn && !writes[at] {
				continue
			}
			crashOnce(t, scenario, at+1, how)
			cuts++
		}
	}
	return cuts
}

// findPoints finds the calls and the journal writes of an undisturbed run, and
// which of them are writes.
func findPoints(t *testing.T, scenario azuresim.Scenario) (writes []bool) {
	synctest.Test(t, func(t *testing.T) {
		s := tell(t, scenario, t.TempDir())
		defer s.world.Close()
		if _, err := s.process(0, before); err != nil {
			t.Fatal(err)
		}
		writes = s.current.writes
	})
	return writes
}

// crashOnce cuts the run at a point, resumes it, and checks the invariants.
func crashOnce(t *testing.T, scenario azuresim.Scenario, at int, how cut) {
	synctest.Test(t, func(t *testing.T) {
		s := tell(t, scenario, t.TempDir())
		defer s.world.Close()
		_, err := s.process(at, how)
		if err != nil && !errors.Is(err, errKilled) {
			t.Errorf("dying: %v", err)
		}
		time.Sleep(30 * time.Second)
		result, err := s.process(0, before)
		if err != nil {
			t.Errorf("resuming: %v", err)
		}
		s.verify(t, result)
		if t.Failed() {
			t.Logf("cut %s point %d\n%s", how, at, s.transcript())
		}
	})
}

// verify checks the invariants and that the end is one the scenario allows.
func (s *story) verify(t *testing.T, result engine.Result) {
	t.Helper()
	s.watchman.settled(t, result, s.start, s.remediated())
	allowed := []runbook.Outcome{runbook.Outcome(s.scenario.Expect)}
	switch s.scenario.Name {
	case "recovers-by-itself", "concurrent-writer":
		allowed = append(allowed, runbook.Remediated, runbook.NothingToDo, runbook.Failed)
	case "no-capacity":
		// Died before the operation's token was kept, the run sees a stand-in that
		// is Failed and not why: it may try again, and this world then has capacity.
		allowed = append(allowed, runbook.Remediated)
	}
	if len(s.remediated()) > 0 {
		allowed = append(allowed, runbook.NothingToDo) // the process died after the last word
	}
	for _, outcome := range allowed {
		if result.Outcome == outcome {
			return
		}
	}
	t.Errorf("ended %s, which is none of %v: %s", result.Outcome, allowed, result.Reason)
}

// remediated are the pools that a run in the journal says it mended.
func (s *story) remediated() map[string]bool {
	ended, _ := journal.Find(context.Background(), s.watchman.journal, func(h *journal.History) bool {
		return h.Closed != nil && h.Closed.Outcome == runbook.Remediated
	}, func(string, error) {})
	mended := map[string]bool{}
	for _, run := range ended {
		mended[path.Base(run.Header.Target.ID)] = true
	}
	return mended
}

func (s *story) transcript() string {
	var lines strings.Builder
	for _, event := range s.events {
		if event.Kind != engine.StepMoved {
			fmt.Fprintln(&lines, describe(event, s.events[0].At))
		}
	}
	return lines.String()
}

var _ journal.Store = (*process)(nil)
