package engine_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// A valve that lets water in, and a tank that must not run over.
type valve struct{ open bool }

// read looks at the valve. A real one is far away, and reading it can fail.
func (v *valve) read(context.Context, runbook.Run) (runbook.Seen[bool], error) {
	return runbook.SeenAt(v.open, time.Now()), nil
}

// shut is a change. Clients that Salve builds ask for the permit at the wire; any other
// change asks the one in its context right before.
func (v *valve) shut(ctx context.Context, _ runbook.Run) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	v.open = false
	return nil
}

// waterRuns decides from what was read, and from nothing else.
func waterRuns(open runbook.Seen[bool]) runbook.Finding {
	if !open.What {
		return runbook.No("the valve is shut")
	}
	return runbook.Yes("the valve is open").WithEvidence(runbook.NewEvidence("valve/7", "", open.Seen, "open"))
}

func waterStopped(open runbook.Seen[bool]) runbook.Finding {
	if open.What {
		return runbook.No("water runs")
	}
	return runbook.Yes("not a drop")
}

func shutValve(v *valve) runbook.Runbook {
	shut := runbook.Step{
		Name: "shut", Changes: "shut the valve", Guards: []string{"water-runs"},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			open, err := v.read(ctx, run)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case open.What:
				return runbook.NotStarted("the valve is open")
			}
			return runbook.Done("the valve is shut")
		},
		Apply: v.shut,
	}
	return runbook.Runbook{
		Name: "shut-valve", Version: "1", Budget: time.Minute,
		Target: runbook.Target{Kind: "valve", ID: "valve/7", Name: "valve 7"},
		Guards: []runbook.Guard{runbook.Ask("water-runs", "does water run?", v.read, waterRuns)},
		Steps:  []runbook.Step{shut},
		Checks: []runbook.Guard{runbook.Ask("water-stopped", "has the water stopped?", v.read, waterStopped)},
	}
}

func Example() {
	e := &engine.Engine{Journal: journal.NewMemory(), Clock: clock.RealClock{}}
	result, err := e.Run(context.Background(), shutValve(&valve{open: true}), engine.Options{})
	fmt.Println(result.Outcome, err)
	// Output: remediated <nil>
}
