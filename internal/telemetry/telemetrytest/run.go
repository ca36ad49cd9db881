package telemetrytest

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/apierr"
	scaled "salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// Secret is a token that stands in what guards say.
const Secret = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzYWx2ZSJ9.c2lnbmF0dXJlLW9mLWEtdG9rZW4" //nolint:gosec // of a test

// Run is what is executed: a run of two steps, close and drain, of which the second can't be undone.
type Run struct {
	// Blind: the guard can't see, being denied.
	Blind bool
	// Breaks names the step that fails.
	Breaks string
	// Asks names the step that can't be observed after it: the run is parked.
	Asks string
	// Watch and Appended are told of it.
	Watch    func(engine.Event)
	Appended func(int, time.Duration, error)
	// Name is the run's; by time and chance when empty.
	Name string
}

// Execute executes the run.
func (r Run) Execute(t testing.TB) engine.Result {
	t.Helper()
	e := &engine.Engine{Journal: journal.NewMemory(), Clock: clock.RealClock{}, Watch: r.Watch, Appended: r.Appended}
	if r.Asks != "" { // it is looked at again until the run's budget is over
		const hurry = 1000
		e.Clock = scaled.NewScaled(hurry)
	}
	if r.Name != "" {
		e.NewRun = func(time.Time) string { return r.Name }
	}
	result, err := e.Run(t.Context(), r.runbook(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (r Run) runbook() runbook.Runbook {
	look := func(context.Context, runbook.Run) (bool, error) {
		if r.Blind {
			return false, apierr.New(apierr.Denied, "forbidden: token %s", Secret)
		}
		return true, nil
	}
	yes := func(bool) runbook.Finding { return runbook.Yes("the valve is open") }
	return runbook.Runbook{
		Name: "shut-valve", Version: "1", Budget: time.Minute,
		Target: runbook.Target{Kind: "valve", ID: "valve/7", Name: "valve 7"},
		Guards: []runbook.Guard{runbook.Ask("water-runs", "does water run?", look, yes)},
		Steps:  []runbook.Step{r.step("close", false), r.step("drain", true)},
		Checks: []runbook.Guard{runbook.Ask("water-stopped", "has the water stopped?", look, yes)},
	}
}

func (r Run) step(name string, irreversible bool) runbook.Step {
	applied := false
	return runbook.Step{
		Name: name, Changes: name, Guards: []string{"water-runs"}, Irreversible: irreversible,
		Observe: func(context.Context, runbook.Run) runbook.Observation {
			switch {
			case applied && name == r.Asks:
				return runbook.Undecidable("is it shut?", "nobody can see it")
			case applied:
				return runbook.Done("it is shut")
			}
			return runbook.NotStarted("it is open")
		},
		Apply: func(ctx context.Context, _ runbook.Run) error {
			if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
				return err
			}
			switch name {
			case r.Breaks:
				return apierr.New(apierr.Terminal, "it is stuck")
			case r.Asks:
				applied = true
				return errors.New("the answer was lost")
			}
			applied = true
			return nil
		},
	}
}
