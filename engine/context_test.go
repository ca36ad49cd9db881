package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"salve/runbook"
)

// contexts are those that a runbook's code was called with, by what they were for.
type contexts map[string]context.Context

// ended fails the test when one that was handed out for any of these purposes is alive.
func (c contexts) ended(t *testing.T, when string, purposes ...string) {
	t.Helper()
	for _, purpose := range purposes {
		if ctx := c[purpose]; ctx == nil || ctx.Err() == nil {
			t.Errorf("%s: the context of %s: %v", when, purpose, ctx)
		}
	}
}

// TestContextsEndWithWhatTheyAreFor: what a runbook's code leaves running ends with the
// call, the attempt, the steps or the run that it belongs to.
func TestContextsEndWithWhatTheyAreFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ladder := true
		book := b.untidy(&ladder)
		seen := contexts{}
		watch := func(step *runbook.Step, budget time.Duration) {
			name, observe, apply := step.Name, step.Observe, step.Apply
			b.faults[name] = []error{errStuck}
			step.Budget = budget
			step.Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
				seen["observe "+name] = ctx
				return observe(ctx, run)
			}
			step.Apply = func(ctx context.Context, run runbook.Run) error {
				seen.ended(t, "apply "+name, "observe "+name)
				seen["attempt "+name] = ctx
				return apply(ctx, run)
			}
			step.RetryWith = func(ctx context.Context, _ runbook.Run, _ error) (bool, error) {
				seen.ended(t, "retry "+name, "attempt "+name)
				seen["retry "+name] = ctx
				return true, nil
			}
		}
		for i, budget := range []time.Duration{0, time.Minute} {
			watch(&book.Steps[i], budget)
		}
		watch(&book.Preflight[0], time.Minute)
		watch(book.Steps[0].Rollback, time.Minute)
		book.Steps[1].Irreversible = false
		guard, observe := book.Guards[0].Evaluate, book.Steps[1].Observe
		book.Guards[0].Evaluate = func(ctx context.Context, run runbook.Run) runbook.Finding {
			seen["guard"] = ctx
			return guard(ctx, run)
		}
		book.Steps[1].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
			seen.ended(t, "observe switch-off", "guard")
			return observe(ctx, run)
		}
		late := b.step("sweep", func() bool { return false }, func() {})
		late.Preconditions = []runbook.Guard{answer("broom", runbook.No("it is broken"))}
		back := *book.Steps[0].Rollback
		back.Preconditions = []runbook.Guard{{Name: "steps-are-over",
			Evaluate: func(context.Context, runbook.Run) runbook.Finding {
				seen.ended(t, "rollback", "retry hang-sign", "retry switch-off")
				return runbook.Yes("")
			}}}
		book.Steps[0].Rollback = &back
		book.Steps = append(book.Steps, late)
		expect(t, b.run(book), runbook.Failed, "it is broken; done, or may have been, and without a rollback: switch-off")
		seen.ended(t, "the run", "retry put-ladder-away", "retry take-sign-in")
		if len(seen) != 4*3+1 {
			t.Errorf("seen %s", fmt.Sprint(len(seen)))
		}
	})
}
