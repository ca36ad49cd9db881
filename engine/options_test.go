package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/apierr"
	"salve/runbook"
)

func TestEngineWithoutClockOrJournalIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*engine.Engine){
		"no clock":   func(e *engine.Engine) { e.Clock = nil },
		"no journal": func(e *engine.Engine) { e.Journal = nil },
	} {
		b := newBench(t)
		spoil(b.Engine)
		book := b.book()
		_, runErr := b.Run(t.Context(), book, engine.Options{})
		_, resumeErr := b.Resume(t.Context(), book, "run-1", engine.Options{})
		_, planErr := b.Plan(t.Context(), book, engine.Options{})
		_, checkErr := b.Check(t.Context(), book, engine.Options{})
		for call, err := range map[string]error{"Run": runErr, "Resume": resumeErr, "Plan": planErr, "Check": checkErr} {
			var invalid *engine.InvalidError
			if !errors.As(err, &invalid) {
				t.Errorf("%s: %s gave %v", name, call, err)
			}
		}
	}
}

func TestInvalidRunbookIsRefusedByEveryCall(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Checks = nil
	_, runErr := b.Run(t.Context(), book, engine.Options{})
	_, resumeErr := b.Resume(t.Context(), book, "run-1", engine.Options{})
	_, planErr := b.Plan(t.Context(), book, engine.Options{})
	for _, err := range []error{runErr, resumeErr, planErr} {
		var invalid *runbook.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("got %v", err)
		}
	}
	if runs, err := b.Journal.Runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("runs %v, %v", runs, err)
	}
}

func TestNobodyRollsBackATargetThatIsAnothersByNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Steps[1].Irreversible = false
		book.Steps[1].Apply = func(ctx context.Context, _ runbook.Run) error {
			if err := b.usurp(context.WithoutCancel(ctx), book.Target.ID); err != nil {
				return err
			}
			return apierr.New(apierr.Terminal, "no power")
		}
		expect(t, b.run(book), runbook.NeedsAttention, "lease lost")
		if want := []string{"hang-sign"}; !slices.Equal(b.calls, want) {
			t.Errorf("changes %v, want %v", b.calls, want)
		}
	})
}
