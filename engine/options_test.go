package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
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

// TestRunAtWorkIsNamedToTheNext: who comes meanwhile is told who holds the target.
func TestRunAtWorkIsNamedToTheNext(t *testing.T) {
	b := newBench(t)
	b.Holder = journal.Holder{User: "ada", Host: "north"}
	book := b.book()
	book.Locks = []string{"wire/2"}
	apply := book.Steps[0].Apply
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
		_, again := b.Run(ctx, book, engine.Options{})
		_, lock := b.Journal.Lock(ctx, journal.Claim{Target: "wire/2"})
		for _, err := range []error{again, lock} {
			var held *journal.HeldError
			if !errors.As(err, &held) || held.Holder.Run != "run-1" || held.Holder.User != "ada" || held.Holder.Host != "north" {
				t.Errorf("meanwhile: %v", err)
			}
		}
		return apply(ctx, run)
	}
	expect(t, b.run(book), runbook.Remediated, "")
	for _, target := range []string{"lamp/1", "wire/2"} {
		if _, err := b.Journal.Lock(t.Context(), journal.Claim{Target: target}); err != nil {
			t.Errorf("%s is still held: %v", target, err)
		}
	}
}

// TestTimeIsThatOfTheEnginesClock: pauses, patience, permits and what is journaled.
func TestTimeIsThatOfTheEnginesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const speed = 60
		b := newBench(t)
		scaled := clock.NewScaled(speed)
		b.Clock = scaled
		began, felt := time.Now(), scaled.Now()
		b.faults["hang-sign"] = []error{apierr.New(apierr.Throttled, "429")}
		b.faults["switch-off"] = []error{errLost}
		book := b.book()
		book.Checks = append(book.Checks, runbook.Guard{Name: "blind", Evaluate: never})
		book.Budget = 10 * time.Minute
		expect(t, b.run(book), runbook.NeedsAttention, "the run's budget of 10m0s is over")
		if took, its := time.Since(began), scaled.Since(felt); took > 11*time.Second || its < 10*time.Minute {
			t.Errorf("took %s, which was %s by its clock", took, its)
		}
		entries := b.record("run-1").Entries
		if last := entries[len(entries)-1]; last.At.Sub(felt.UTC()) < 10*time.Minute {
			t.Errorf("closed at %s, begun at %s", last.At, felt)
		}
	})
}

// TestPermitsOfTwoStepsRunsAndTargetsDiffer: each is tied to what it was minted for.
func TestPermitsOfTwoStepsRunsAndTargetsDiffer(t *testing.T) {
	b := newBench(t)
	seen := map[string]string{}
	for _, target := range []string{"lamp/1", "lamp/1", "lamp/2"} {
		b.on, b.sign = true, false
		book := b.book()
		book.Target.ID = target
		for i, step := range book.Steps {
			book.Steps[i].Apply = func(ctx context.Context, run runbook.Run) error {
				of := fmt.Sprint(run.ID(), " ", target, " ", step.Name)
				granted := runbook.PermitFrom(ctx)
				if other, known := seen[granted.ID()]; known || granted.ID() == "" || granted.Run() != run.ID() {
					t.Errorf("the permit of %s is that of %s, of run %s", of, other, granted.Run())
				}
				seen[granted.ID()] = of
				return step.Apply(ctx, run)
			}
		}
		expect(t, b.run(book), runbook.Remediated, "")
	}
	if len(seen) != 6 {
		t.Errorf("permits %v", seen)
	}
}
