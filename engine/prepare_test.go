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

// TestGuardIsPreparedWithinABudgetOfItsOwn: making takes longer than asking, and what was
// cut off is not known.
func TestGuardIsPreparedWithinABudgetOfItsOwn(t *testing.T) {
	for name, row := range map[string]struct {
		takes  time.Duration
		fails  error
		ends   runbook.Outcome
		reason string
	}{
		"longer than a guard may take": {takes: 3 * time.Hour, ends: runbook.Remediated},
		"too long": {takes: 5 * time.Hour, ends: runbook.Undecided,
			reason: "fed is unknown: timed out: not prepared within 4h0m0s: context deadline exceeded"},
		"in vain": {fails: errors.New("no flour"), ends: runbook.Undecided, reason: "fed is unknown: no flour"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				made := 0
				book := b.book()
				book.Budget = 10 * time.Hour
				book.Guards = append(book.Guards, runbook.Guard{
					Name: "fed", PrepareBudget: 4 * time.Hour,
					Prepare: func(ctx context.Context, _ runbook.Run) error {
						made++
						select {
						case <-time.After(row.takes):
							return row.fails
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					},
					Evaluate: func(context.Context, runbook.Run) runbook.Finding { return runbook.Yes("") },
				})
				for i := range book.Steps {
					book.Steps[i].Guards = []string{"fed"}
				}
				if _, err := b.Plan(t.Context(), book, engine.Options{}); err != nil || made > 0 {
					t.Fatalf("a preview: made %d times, %v", made, err)
				}
				expect(t, b.run(book), row.ends, row.reason)
				if made != 1 {
					t.Errorf("made %d times", made)
				}
			})
		})
	}
}
