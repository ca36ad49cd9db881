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

// shut is a change: it asks the permit that its context carries right before.
func (v *valve) shut(ctx context.Context) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	v.open = false
	return nil
}

func shutValve(v *valve) runbook.Runbook {
	tankFull := runbook.Guard{
		Name: "tank-full", Question: "is the tank full?",
		Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			return runbook.Yes("the float is up").WithEvidence(runbook.NewEvidence("float", "", time.Now(), "up"))
		},
	}
	shut := runbook.Step{
		Name: "shut", Changes: "shut the valve", Guards: []string{"tank-full"},
		Observe: func(context.Context, runbook.Run) runbook.Observation {
			if v.open {
				return runbook.NotStarted("the valve is open")
			}
			return runbook.Done("the valve is shut")
		},
		Apply: func(ctx context.Context, _ runbook.Run) error {
			return v.shut(ctx)
		},
	}
	dry := runbook.Guard{
		Name: "nothing-flows", Question: "has the water stopped?",
		Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			if v.open {
				return runbook.No("water runs")
			}
			return runbook.Yes("not a drop")
		},
	}
	return runbook.Runbook{
		Name: "shut-valve", Version: "1", Budget: time.Minute,
		Target: runbook.Target{Kind: "valve", ID: "valve/7", Name: "valve 7"},
		Guards: []runbook.Guard{tankFull},
		Steps:  []runbook.Step{shut},
		Checks: []runbook.Guard{dry},
	}
}

func Example() {
	e := &engine.Engine{Journal: journal.NewMemory(), Clock: clock.RealClock{}}
	result, err := e.Run(context.Background(), shutValve(&valve{open: true}), engine.Options{})
	fmt.Println(result.Outcome, err)
	// Output: remediated <nil>
}
