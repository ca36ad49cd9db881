package recreatepool_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/recreatepool"
)

// stage is an embedded Azure with everything that a run on it needs. It lives
// inside a synctest bubble, on virtual time.
type stage struct {
	t        testing.TB
	scenario azuresim.Scenario
	world    *azuresim.World
	journal  journal.Store
	runs     int
	events   []engine.Event
	// brief makes a run cheap: three failed writes are evidence, drains are short.
	brief bool
	// watch are called with each event of a run.
	watch []func(engine.Event)
	// through sees what is sent to ARM and what it answers; nil for nobody.
	through func(http.RoundTripper) http.RoundTripper
	// open is the run that the target's lease names; empty for that of the journal.
	open string
}

func newStage(t testing.TB, scenario azuresim.Scenario, backend journal.Store) *stage {
	t.Helper()
	world, err := azuresim.New(scenario, azuresim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, scenario: scenario, world: world, journal: backend}
}

func load(t testing.TB, name string) azuresim.Scenario {
	t.Helper()
	scenario, err := azuresim.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return scenario
}

// runbooks are those that the scenario's inputs ask for: one for each pool.
func (s *stage) runbooks() []runbook.Runbook {
	s.t.Helper()
	arm := s.world.ARM()
	if s.through != nil {
		arm = s.through(arm)
	}
	client, err := azure.New(azure.Options{
		Subscription: s.scenario.Subscription, Credential: s.world.Credential(),
		Transport: arm, Clock: clock.RealClock{},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	cluster, err := kube.ForConfig(s.world.KubernetesConfig(), clock.RealClock{})
	if err != nil {
		s.t.Fatal(err)
	}
	world := recreatepool.World{
		Azure: client, Clock: clock.RealClock{},
		Kubernetes: func(context.Context) (*kube.Cluster, error) { return cluster, nil },
	}
	world.OpenRun = s.openRun
	var books []runbook.Runbook
	for _, pool := range s.pools() {
		in := recreatepool.Defaults()
		in.Subscription, in.ResourceGroup, in.Cluster, in.Pool = s.scenario.Subscription, s.scenario.ResourceGroup,
			s.scenario.Cluster, pool
		if s.brief {
			in.DrainDeadline, in.Threshold = metav1.Duration{Duration: time.Minute}, 3
		}
		in.OnBlockedDrain = cmp.Or(s.scenario.Inputs["on-blocked-drain"], in.OnBlockedDrain)
		book, err := recreatepool.New(world, in)
		if err != nil {
			s.t.Fatal(err)
		}
		books = append(books, book)
	}
	return books
}

func (s *stage) pools() []string {
	role := s.scenario.Inputs["role"]
	if role == "" {
		return []string{s.scenario.Inputs["pool"]}
	}
	var pools []string
	for _, pool := range s.scenario.Pools {
		if pool.Labels[recreatepool.RoleKey] == role || pool.Tags[recreatepool.RoleKey] == role {
			pools = append(pools, pool.Name)
		}
	}
	return pools
}

// engine makes a runner: another one for each process of the story.
func (s *stage) engine() *engine.Engine {
	return &engine.Engine{
		Journal: s.journal, Clock: clock.RealClock{}, Holder: journal.Holder{User: "sre", Host: "laptop", PID: 1},
		Watch: func(event engine.Event) {
			s.events = append(s.events, event)
			for _, watch := range s.watch {
				watch(event)
			}
		},
		NewRun: func(time.Time) string { s.runs++; return fmt.Sprintf("run-%d", s.runs) },
	}
}

// run executes the scenario's runbooks one after the other and gives the last
// result.
func (s *stage) run(ctx context.Context) (engine.Result, error) {
	var result engine.Result
	defer s.replay()
	for _, book := range s.runbooks() {
		var err error
		if result, err = s.engine().Run(ctx, book, s.options()); err != nil {
			return result, err
		}
		switch result.Outcome {
		case runbook.Failed, runbook.Undecided, runbook.NeedsAttention:
			return result, nil
		default:
		}
	}
	return result, nil
}

// options are what an operator of the scenario says.
func (s *stage) options() engine.Options { return engine.Options{Overrides: s.scenario.Overrides} }

// replay makes the decisions of all runs again from their records alone.
func (s *stage) replay() {
	s.t.Helper()
	runbooktest.Replayed(s.t, s.journal, recreatepool.Name, func(history *journal.History) (runbook.Runbook, error) {
		var in recreatepool.Inputs
		if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
			return runbook.Runbook{}, err
		}
		return recreatepool.Replayed(in, history.Header.Target)
	})
}

// openRun names the run that the lease of a target says is open.
func (s *stage) openRun(ctx context.Context, target string) (string, error) {
	if s.open != "" {
		return s.open, nil
	}
	lease, err := s.journal.Peek(ctx, target)
	if err != nil || lease.Open == nil || lease.Open.Closed {
		return "", err
	}
	return lease.Open.Run, nil
}

// plannedStandIn is the name of the stand-in that a run would make for a pool.
func (s *stage) plannedStandIn(pool string) string {
	in := recreatepool.Defaults()
	in.Subscription, in.ResourceGroup, in.Cluster, in.Pool = s.scenario.Subscription, s.scenario.ResourceGroup,
		s.scenario.Cluster, pool
	return recreatepool.StandInName(in)
}
