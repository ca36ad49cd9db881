package rescuepods_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/engine"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

var errKilled = errors.New("killed")

// mortal is a journal whose writer dies at a write: before it is made, or after it,
// when the answer is lost. The dead write nothing.
type mortal struct {
	journal.Store
	at     int // the write to die at, from 1; 0 for never
	after  bool
	writes int
	kill   context.CancelCauseFunc
}

func (m *mortal) Append(ctx context.Context, run string, seq int, line []byte) error {
	m.writes++
	switch {
	case m.at == 0 || m.writes < m.at:
		return m.Store.Append(ctx, run, seq, line)
	case m.writes == m.at && m.after:
		m.kill(errKilled)
		return errors.Join(errKilled, m.Store.Append(ctx, run, seq, line))
	}
	m.kill(errKilled)
	return errKilled
}

// TestCrashAtEveryWrite: a run that dies at any of its writes is gone on with by
// another process, and the same comes of it.
func TestCrashAtEveryWrite(t *testing.T) {
	t.Parallel()
	writes := 0
	t.Run("never", func(t *testing.T) {
		s := newStage(t)
		m := &mortal{Store: s.journal}
		crash(t, s, m)
		writes = m.writes
	})
	if writes < 15 {
		t.Fatalf("a run makes %d writes", writes)
	}
	t.Run("at", func(t *testing.T) {
		for at := 1; at <= writes; at++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("write %d of %d, after it %v", at, writes, after), func(t *testing.T) {
					t.Parallel()
					s := newStage(t)
					crash(t, s, &mortal{Store: s.journal, at: at, after: after})
				})
			}
		}
	})
}

// crash tells the story of a run that dies and of the one that goes on.
func crash(t *testing.T, s *stage, m *mortal) {
	s.controller()
	s.stranded("job-a", "job-b", "job-c")
	s.pod(s.astray, "runs", nil)
	s.starts(s.astray, "runs")
	s.eventually("the controller has done its part", func() bool { return len(s.there(s.home)) == 7 })
	runs, home := s.uids(s.astray)["runs"], s.uids(s.home)

	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	m.kill, s.journal = kill, m
	result, err := s.engine().Run(ctx, s.book(), engine.Options{})
	if died := errors.Is(err, errKilled) || result.Unrecorded; died != (m.at > 0) {
		t.Fatalf("the first process ended with %v, %s", err, result.Outcome)
	}
	m.Store.(*journal.Memory).Expire(s.book().Target.ID) // as the lease of the dead does
	s.journal = m.Store
	closed := []runbook.Outcome{}
	if m.at > 0 {
		result = s.run()
	}
	records, err := journal.Find(t.Context(), m.Store, func(*journal.History) bool { return true },
		func(_ string, err error) { t.Error(err) })
	s.must(err)
	for _, record := range records {
		if record.Closed == nil {
			t.Errorf("run %s is still open", record.Run)
			continue
		}
		closed = append(closed, record.Closed.Outcome)
	}
	if !slices.Contains(closed, runbook.Remediated) || result.Outcome != runbook.Remediated &&
		result.Outcome != runbook.NothingToDo {
		t.Errorf("the runs ended %v, the last %s: %s\n%s", closed, result.Outcome, result.Reason, s.transcript())
	}
	s.remain(s.astray, "runs")
	if now := s.uids(s.astray)["runs"]; now != runs {
		t.Errorf("the pod that runs was replaced")
	}
	for name, uid := range home {
		if s.uids(s.home)[name] != uid {
			t.Errorf("pod %s was touched where it belongs", name)
		}
	}
}

// TestRightsAreCutInTheMiddle: what is denied is not known, and nothing goes on.
func TestRightsAreCutInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		right, step string
		want        runbook.Outcome
		says        string
		left        int
	}{
		{"secrets", "record", runbook.Undecided, "cannot-start is unknown", 3},
		{"secrets", "delete-first", runbook.NeedsAttention, "", 2},
		{"pods", "delete-first", runbook.NeedsAttention, "source-stopped is unknown", 2},
	} {
		t.Run(row.right+" after "+row.step, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.controller()
			s.stranded("job-a", "job-b", "job-c")
			user := "cut-" + row.right + "-" + row.step
			s.grant(user)
			s.as(s.plane.KubeconfigOf(t, user))
			s.hasty()
			s.seen = func(event engine.Event) {
				if event.Kind == engine.StepEnded && event.Step == row.step {
					s.cut(user, row.right)
				}
			}
			result := s.run()
			s.ends(result, row.want, row.says)
			if there := s.there(s.astray); len(there) != row.left {
				t.Errorf("left are %q", there)
			}
			s.seen = nil
			s.cut(user)
			s.ends(s.run(), runbook.Remediated, "")
			s.remain(s.astray)
		})
	}
}

// TestDeletionIsDeniedForAWhile: the run waits, evaluates again, and goes on.
func TestDeletionIsDeniedForAWhile(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.controller()
	s.stranded("job-a", "job-b", "job-c")
	s.grant("denied-for-a-while", "deletion")
	s.as(s.plane.KubeconfigOf(t, "denied-for-a-while"))
	s.hasty()
	s.seen = func(event engine.Event) {
		if event.Kind == engine.Waiting {
			s.cut("denied-for-a-while")
		}
	}
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray)
}

// TestTheAPIServerIsRestarted while pods are deleted.
func TestTheAPIServerIsRestarted(t *testing.T) {
	t.Parallel()
	plane, err := kubetest.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Close(); err != nil {
			t.Error(err)
		}
	})
	s := newStageOn(t, plane)
	s.stranded("job-a", "job-b", "job-c", "job-d")
	s.inputs.ReplacedWithin.Duration = time.Second
	restarted := make(chan struct{})
	restart := sync.OnceFunc(func() {
		plane.StopAPIServer(t)
		go func() {
			defer close(restarted)
			plane.StartAPIServer(t)
		}()
	})
	s.seen = func(event engine.Event) {
		if event.Kind == engine.StepBegan && event.Step == "delete-rest" {
			restart()
		}
	}
	result := s.run()
	<-restarted
	s.ends(result, runbook.Remediated, "")
	s.remain(s.astray)

	l := s.watch() // and while pods are watched
	l.says("4 live pods where they belong")
	plane.StopAPIServer(t)
	l.says("the pods can't be seen")
	plane.StartAPIServer(t)
	s.pod(s.astray, "after", nil)
	var stranded *stranded.Error
	if err := l.end(); !errors.As(err, &stranded) {
		t.Errorf("the watch ended with %v", err)
	}
}

// TestManyPods are deleted in batches, and nothing else is.
func TestManyPods(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	names := []string{}
	for i := range 270 {
		names = append(names, fmt.Sprintf("job-%03d", i))
	}
	s.many(s.astray, names)
	s.many(s.home, names)
	s.many(s.astray, []string{"runs-1", "runs-2"})
	s.starts(s.astray, "runs-1")
	s.starts(s.astray, "runs-2")
	home := s.uids(s.home)
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, "runs-1", "runs-2")
	if now := s.uids(s.home); !equal(now, home) {
		t.Error("pods were touched where they belong")
	}
}

func equal(a, b map[string]types.UID) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
