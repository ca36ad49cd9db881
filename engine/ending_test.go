package engine_test

import (
	"context"
	"testing"
	"testing/synctest"

	"salve/runbook"
)

func TestUndecidableParksWithTheQuestion(t *testing.T) {
	b := newBench(t)
	b.trouble["hang-sign"] = []error{errLost}
	book := b.book()
	observe := book.Steps[0].Observe
	book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
		if b.sign {
			return runbook.Undecidable("Does the sign hang?", "dusk")
		}
		return observe(ctx, run)
	}
	synctest.Test(t, func(t *testing.T) {
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "dusk")
		if result.Question != "Does the sign hang?" {
			t.Errorf("asked %q", result.Question)
		}
	})
}

func TestChecksDecideNotExitCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Checks[0].Evaluate = func(context.Context,
			runbook.Run) runbook.Finding {
			return runbook.No("there is still a glow")
		}
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "still a glow")
		if !result.Open {
			t.Error("closed although a check does not hold")
		}
	})
}
