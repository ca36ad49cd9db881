package runbooktest

import (
	"context"
	"slices"
	"testing"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// Given is what earlier steps left to a step that is applied alone.
type Given struct {
	// Notes are what they noted, by name.
	Notes map[string]any
	// Done names those that are done.
	Done []string
}

// Apply runs one step of a runbook through the engine, on a journal in memory: the
// guards that the step names and its preconditions are evaluated, the intent is
// journaled, and the change is made under a permit. A preflight step and a rollback
// are applied in the same way. The result is Remediated when the step observes
// afterwards that it is done; nothing is rolled back.
func Apply(t testing.TB, book runbook.Runbook, step string, given Given) engine.Result {
	t.Helper()
	alone, found := stepOf(book, step)
	if !found {
		t.Fatalf("runbook %q has no step %q", book.Name, step)
	}
	alone.After, alone.Rollback, alone.Irreversible = nil, nil, false
	book.Guards = slices.DeleteFunc(slices.Clone(book.Guards), func(guard runbook.Guard) bool {
		return !slices.Contains(alone.Guards, guard.Name)
	})
	book.Preflight, book.Steps = nil, append(earlier(given, step), alone)
	book.Checks = []runbook.Guard{observedDone(alone)}
	book.Success = runbook.Remediated
	kept := journal.NewMemory()
	machine := &engine.Engine{Journal: kept, Clock: clock.RealClock{}}
	result, err := machine.Run(t.Context(), book, engine.Options{})
	if err != nil {
		t.Fatalf("step %q of runbook %q: %v", step, book.Name, err)
	}
	if record, err := journal.Load(t.Context(), kept, result.Run); err == nil {
		replayedBy(t, record.History, []runbook.Runbook{book})
	}
	return result
}

func stepOf(book runbook.Runbook, name string) (runbook.Step, bool) {
	for _, step := range slices.Concat(book.Preflight, book.Steps) {
		if step.Name == name {
			return step, true
		}
		if step.Rollback != nil && step.Rollback.Name == name {
			return *step.Rollback, true
		}
	}
	return runbook.Step{}, false
}

// earlier are steps in the place of those before: they note what is given, and are
// done.
func earlier(given Given, step string) []runbook.Step {
	noted := false
	steps := []runbook.Step{{
		Name: "notes before " + step, Passive: true,
		Observe: func(context.Context, runbook.Run) runbook.Observation {
			if noted {
				return runbook.Done("noted")
			}
			return runbook.NotStarted("not noted yet")
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			for name, value := range given.Notes {
				if err := run.Note(ctx, name, value); err != nil {
					return err
				}
			}
			noted = true
			return nil
		},
	}}
	for _, name := range given.Done {
		steps = append(steps, runbook.Step{
			Name:    name,
			Observe: func(context.Context, runbook.Run) runbook.Observation { return runbook.Done("given by the test") },
			Apply:   func(context.Context, runbook.Run) error { return nil }, // never reached: it is done
		})
	}
	return steps
}

// observedDone asks the step itself, whose Observe alone tells whether its change was made.
func observedDone(step runbook.Step) runbook.Guard {
	type observed struct {
		State  runbook.State `json:"state"`
		Reason string        `json:"reason"`
	}
	read := func(ctx context.Context, run runbook.Run) (observed, error) {
		seen := step.Observe(ctx, run)
		return observed{seen.State, seen.Reason}, seen.Failure()
	}
	return runbook.Ask("done", "is step "+step.Name+" done?", read, func(seen observed) runbook.Finding {
		if seen.State != runbook.StateDone {
			return runbook.No("step %q is %s: %s", step.Name, seen.State, seen.Reason)
		}
		return runbook.Yes("%s", seen.Reason)
	})
}
