package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/apierr"
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

// half is a run that stays open: its first step is done, its second fails.
func half(t *testing.T, b *bench, s *site, inputs any) runbook.Runbook {
	t.Helper()
	s.fails["roof"] = []error{apierr.New(apierr.Terminal, "rain")}
	book := s.book(1, s.step("floor"), s.step("roof", "floor"))
	book.Inputs = inputs
	expect(t, b.run(book), runbook.Failed, "rain")
	return book
}

func TestOpenRunWithOtherInputsIsKeptUnlessItMayBeSuperseded(t *testing.T) {
	refused := errors.New("its cellar is flooded")
	for name, row := range map[string]struct {
		supersede func(*journal.History) error
		want      string // the error's text; empty when the run goes on
	}{
		"nobody allows it":        {want: "hint: salve resume run-1"},
		"it is refused":           {supersede: func(*journal.History) error { return refused }, want: "flooded"},
		"it is closed and let go": {supersede: func(*journal.History) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				book := half(t, b, s, "plan A")
				book.Inputs = "plan B"
				result, err := b.Run(t.Context(), book, engine.Options{Supersede: row.supersede})
				closed := b.record("run-1").Closed
				if row.want != "" {
					if err == nil || !strings.Contains(err.Error(), row.want) || closed != nil {
						t.Errorf("got %v, the run before is closed: %v", err, closed)
					}
					return
				}
				if err != nil || result.Run != "run-2" || closed == nil ||
					!strings.Contains(closed.Reason, "superseded by run run-2") {
					t.Errorf("got %+v, %v, the run before: %+v", result, err, closed)
				}
			})
		})
	}
}

func TestResumeRefusesWhatItIsNotFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := half(t, b, s, "plan A")
		for name, row := range map[string]struct {
			run    string
			change func(*runbook.Runbook)
			want   string
		}{
			"a run that there is not": {run: "run-9", want: "not found"},
			"other inputs":            {change: func(r *runbook.Runbook) { r.Inputs = "plan B" }, want: "different inputs"},
			"another target":          {change: func(r *runbook.Runbook) { r.Target.ID = "site/2" }, want: "site/1"},
			"another runbook":         {change: func(r *runbook.Runbook) { r.Name = "demolish" }, want: "runbook build"},
			"another version":         {change: func(r *runbook.Runbook) { r.Version = "2" }, want: `version "1"`},
		} {
			other, run := book, "run-1"
			if row.change != nil {
				row.change(&other)
			}
			if row.run != "" {
				run = row.run
			}
			_, err := b.Resume(t.Context(), other, run, engine.Options{})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v, want %q", name, err, row.want)
			}
		}
		built := len(s.order)
		result, err := b.Resume(t.Context(), book, "run-1", engine.Options{})
		if err != nil || result.Outcome != runbook.RolledOut {
			t.Errorf("resumed: %+v, %v", result, err)
		}
		_, err = b.Resume(t.Context(), book, "run-1", engine.Options{})
		if err == nil || !strings.Contains(err.Error(), "is closed") {
			t.Errorf("resumed once more: %v", err)
		}
		if len(s.order) != built+1 {
			t.Errorf("built %v", s.order)
		}
	})
}

func TestWatcherIsToldWhatHappensInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var mu sync.Mutex
		var kinds []engine.EventKind
		b.Watch = func(event engine.Event) {
			mu.Lock()
			defer mu.Unlock()
			if event.Run != "run-1" || event.At.IsZero() {
				t.Errorf("an event of run %q at %s", event.Run, event.At)
			}
			kinds = append(kinds, event.Kind)
		}
		book := b.book()
		apply := book.Steps[0].Apply
		book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
			run.Report(runbook.Progress{Text: "half way"})
			if err := run.Warn(ctx, "it is windy"); err != nil {
				return err
			}
			return apply(ctx, run)
		}
		result := b.run(book)
		expect(t, result, runbook.Remediated, "")
		want := []engine.EventKind{
			engine.RunBegan, engine.Found, engine.PlanMade, engine.Found, engine.StepBegan, engine.StepMoved, engine.Warning,
			engine.StepEnded, engine.Found, engine.StepBegan, engine.StepEnded, engine.ChecksBegan, engine.Found,
			engine.RunEnded,
		}
		if !slices.Equal(slices.DeleteFunc(slices.Clone(kinds), func(kind engine.EventKind) bool {
			return kind == engine.Found
		}), slices.DeleteFunc(want, func(kind engine.EventKind) bool { return kind == engine.Found })) {
			t.Errorf("told %v", kinds)
		}
		if !slices.Contains(kinds, engine.Found) || !slices.Equal(result.Warnings, []string{"it is windy"}) {
			t.Errorf("told %v, warned of %v", kinds, result.Warnings)
		}
	})
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
