package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestStepThatAsksParksItsRun: what was done is not taken back, nothing is tried again by itself, and a resume attempts
// the step again with what the operator says.
func TestStepThatAsksParksItsRun(t *testing.T) {
	question := &runbook.QuestionError{Reason: "someone is reading", Question: "May the light go out?"}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		attempts, off := 0, book.Steps[1].Apply
		book.Steps[1].Apply = func(ctx context.Context, run runbook.Run) error {
			if attempts++; run.Override("lamp-in-sight") == "" {
				return question
			}
			return off(ctx, run)
		}
		began := time.Now()
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "step switch-off: someone is reading")
		if !result.Open || result.Question != question.Question || attempts != 1 || time.Since(began) > time.Second {
			t.Errorf("open %v, question %q, %d attempts in %s", result.Open, result.Question, attempts, time.Since(began))
		}
		if last := b.record("run-1").Step("switch-off").Last; last.Result != journal.Failure || last.Refused {
			t.Errorf("the attempt is recorded as %+v", last)
		}
		resumed, err := b.Resume(t.Context(), book, "run-1",
			engine.Options{Overrides: map[string]string{"lamp-in-sight": "it is late"}})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, resumed, runbook.Remediated, "")
		if attempts != 2 {
			t.Errorf("%d attempts", attempts)
		}
	})
}
