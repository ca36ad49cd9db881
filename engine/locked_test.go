package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/runbook"
)

// TestLockedFindingStaysLocked: an override does not pass over a guard that was cut off, nor over one for which
// nothing could be made.
func TestLockedFindingStaysLocked(t *testing.T) {
	for name, spoil := range map[string]func(guard *runbook.Guard){
		"cut off": func(guard *runbook.Guard) {
			guard.Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
				<-ctx.Done()
				return runbook.No("somebody stands below").NotOverridable()
			}
		},
		"not prepared": func(guard *runbook.Guard) {
			guard.PrepareBudget = time.Minute
			guard.Prepare = func(context.Context, runbook.Run) error { return errors.New("no ladder") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				spoil(&book.Guards[0])
				result, err := b.Run(t.Context(), book,
					engine.Options{Overrides: map[string]string{"lamp-in-sight": "I stand beside it"}})
				if err != nil {
					t.Fatal(err)
				}
				if expect(t, result, runbook.Undecided, "lamp-in-sight is unknown"); len(b.calls) > 0 {
					t.Errorf("changes %v", b.calls)
				}
			})
		})
	}
}
