package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/apierr"
	"salve/runbook"
)

// told is what a watcher is told, a line for each event.
func (b *bench) told() *[]string {
	var lines []string
	b.Watch = func(event engine.Event) {
		if event.Run != "run-1" || event.At.IsZero() {
			b.t.Errorf("an event of run %q at %s", event.Run, event.At)
		}
		line := fmt.Sprint(event.Kind, " ", event.Step, " ", event.Text)
		switch event.Kind {
		case engine.Found:
			line += event.Finding.Guard + " " + string(event.Finding.Answer)
		case engine.PlanMade:
			line += fmt.Sprint(len(event.Plan.Steps))
		case engine.StepBegan:
			line += fmt.Sprint(event.Attempt)
		case engine.StepMoved:
			line += event.Progress.Text
		case engine.StepEnded:
			line += fmt.Sprint(event.Attempt, " ", event.Result.Result)
		case engine.RunEnded:
			line += "; " + string(event.Verdict.Outcome)
		default:
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return &lines
}

func TestWatcherIsToldWhatHappensInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		told := b.told()
		book := b.book()
		apply := book.Steps[0].Apply
		book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
			run.Report(runbook.Progress{Text: "half way"})
			if err := run.Warn(ctx, "it is %s", "windy"); err != nil {
				return err
			}
			return apply(ctx, run)
		}
		result := b.run(book)
		want := []string{
			"run-began opened", "finding start lamp-in-sight holds", "plan 2",
			"finding step hang-sign lamp-in-sight holds", "step-began hang-sign 1", "step-moved hang-sign half way",
			"warning hang-sign it is windy", "step-ended hang-sign 1 done",
			"finding step switch-off lamp-in-sight holds", "step-began switch-off 1", "step-ended switch-off 1 done",
			"checks-began", "finding checks dark holds", "run-ended all final checks hold; remediated",
		}
		if !slices.Equal(*told, want) {
			t.Errorf("told\n  %s\nwant\n  %s", strings.Join(*told, "\n  "), strings.Join(want, "\n  "))
		}
		story := b.story()
		if !slices.Equal(result.Warnings, []string{"it is windy"}) || !slices.Contains(story, "warning hang-sign") {
			t.Errorf("warned of %v, the journal tells %q", result.Warnings, story)
		}
	})
}

func TestWatcherIsToldOfFaultsAndRollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["hang-sign"] = []error{apierr.New(apierr.Throttled, "429")}
		b.faults["switch-off"] = []error{errStuck}
		told := b.told()
		b.run(b.book())
		want := []string{
			"run-began opened", "finding start lamp-in-sight holds", "plan 2",
			"finding step hang-sign lamp-in-sight holds", "step-began hang-sign 1", "step-ended hang-sign 1 failed",
			"waiting hang-sign step hang-sign: 429; next attempt in 5s",
			"finding step hang-sign lamp-in-sight holds", "step-began hang-sign 2", "step-ended hang-sign 2 done",
			"finding step switch-off lamp-in-sight holds", "step-began switch-off 1", "step-ended switch-off 1 failed",
			"rollback-began step switch-off: stuck", "step-began take-sign-in 1", "step-ended take-sign-in 1 done",
			"run-ended step switch-off: stuck; failed",
		}
		if !slices.Equal(*told, want) {
			t.Errorf("told\n  %s\nwant\n  %s", strings.Join(*told, "\n  "), strings.Join(want, "\n  "))
		}
	})
}

func TestWatcherIsToldThatARunGoesOn(t *testing.T) {
	b := newBench(t)
	b.run(b.stuck())
	told := b.told()
	b.run(b.book())
	if (*told)[0] != "run-began resumed" {
		t.Errorf("told %q", *told)
	}
}

// TestWarningThatCannotBeWrittenIsAnError, and nobody is told of it.
func TestWarningThatCannotBeWrittenIsAnError(t *testing.T) {
	b := newBench(t)
	told := b.told()
	book := b.book()
	b.failOn("warning", "")
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error { return run.Warn(ctx, "it is windy") }
	result := b.run(book)
	if !result.Unrecorded || len(result.Warnings) > 0 || slices.Contains(*told, "warning hang-sign it is windy") {
		t.Errorf("told %q, %+v", *told, result)
	}
}
