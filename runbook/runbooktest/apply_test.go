package runbooktest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

// TestApplyRunsOneStepUnderAPermit: with what earlier steps noted, and only while its
// guards hold.
func TestApplyRunsOneStepUnderAPermit(t *testing.T) {
	given := runbooktest.Given{Notes: map[string]any{"position": "open"}, Done: []string{"lock"}}
	for _, row := range []struct {
		name  string
		given runbooktest.Given
		edit  func(*runbook.Runbook)
		want  runbook.Outcome
		shut  bool
	}{
		{name: "as it is", given: given, want: runbook.Remediated, shut: true},
		{name: "without the note", want: runbook.Failed},
		{name: "a guard that can't see", given: given, want: runbook.Undecided, edit: func(book *runbook.Runbook) {
			book.Guards[0] = runbook.Ask("flows", "?", func(context.Context, runbook.Run) (bool, error) {
				return false, errors.New("timed out")
			}, func(bool) runbook.Finding { return runbook.Yes("water flows") })
		}},
		{name: "a precondition that does not hold", given: given, want: runbook.NothingToDo,
			edit: func(book *runbook.Runbook) {
				read := func(context.Context, runbook.Run) (bool, error) { return true, nil }
				book.Steps[1].Preconditions = []runbook.Guard{
					runbook.Ask("calm", "?", read, func(bool) runbook.Finding { return runbook.No("it storms") }),
				}
			}},
		{name: "another guard is not asked", given: given, want: runbook.Remediated, shut: true,
			edit: func(book *runbook.Runbook) {
				book.Guards = append(book.Guards,
					runbook.Guard{Name: "other", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
						return runbook.No("no")
					}})
			}},
	} {
		inBubble(t, row.name, func(t *testing.T) {
			v := &valve{}
			book := v.book()
			if row.edit != nil {
				row.edit(&book)
			}
			result := runbooktest.Apply(t, book, "shut", row.given)
			if result.Outcome != row.want || v.shut != row.shut || v.locked {
				t.Errorf("ended %s: %s, shut %v, locked %v", result.Outcome, result.Reason, v.shut, v.locked)
			}
		})
	}
}

// TestApplyReplaysWhatItDecided: a guard that decides by more than its reading is found, one that keeps none is not
// asked again.
func TestApplyReplaysWhatItDecided(t *testing.T) {
	asked := 0
	counts := func(bool) runbook.Finding { asked++; return runbook.Yes("asked %d times", asked) }
	for name, row := range map[string]struct {
		guard runbook.Guard
		want  bool
	}{
		"by more than its reading": {runbook.Ask("flows", "?", func(context.Context, runbook.Run) (bool, error) {
			return true, nil
		}, counts), true},
		"while it reads": {runbook.Guard{Name: "flows", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			return counts(true)
		}}, false},
	} {
		inBubble(t, name, func(t *testing.T) {
			v := &valve{}
			book := v.book()
			book.Guards[0] = row.guard
			told := &complaints{TB: t}
			runbooktest.Apply(told, book, "shut", runbooktest.Given{Notes: map[string]any{"position": "open"}})
			if found := len(told.said) > 0; found != row.want {
				t.Errorf("said %q", told.said)
			}
		})
	}
}

// inBubble runs a test on virtual time: the engine waits for what became of a request
// that failed for an unknown reason.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// TestApplyFindsPreflightAndRollback steps by their names.
func TestApplyFindsPreflightAndRollback(t *testing.T) {
	for _, name := range []string{"tidy", "unlock"} {
		v := &valve{}
		book := v.book()
		did := ""
		step := func(name string) runbook.Step {
			return runbook.Step{Name: name,
				Observe: func(context.Context, runbook.Run) runbook.Observation {
					if did == name {
						return runbook.Done("done")
					}
					return runbook.NotStarted("not yet")
				},
				Apply: func(context.Context, runbook.Run) error { did = name; return nil },
			}
		}
		back := step("unlock")
		book.Preflight, book.Steps[0].Rollback = []runbook.Step{step("tidy")}, &back
		if result := runbooktest.Apply(t, book, name, runbooktest.Given{}); result.Outcome != runbook.Remediated ||
			did != name {
			t.Errorf("%s: %s: %s, did %q", name, result.Outcome, result.Reason, did)
		}
	}
}

// TestFakeRun keeps what code under test tells it, and gives it back.
func TestFakeRun(t *testing.T) {
	lost := errors.New("not readable")
	run := &runbooktest.Run{Steps: map[string]runbook.StepStatus{"lock": {Done: true}},
		Lost: map[string]error{"old": lost}}
	ctx := t.Context()
	if err := errors.Join(run.Note(ctx, "n", 1), run.Note(ctx, "n", 2), run.Warn(ctx, "pod %s", "p")); err != nil {
		t.Fatal(err)
	}
	run.Report(runbook.Progress{Text: "half"})
	var n int
	if found, err := run.ReadBack(ctx, "n", &n); !found || err != nil || n != 2 {
		t.Errorf("note: %v, %v, %d", found, err, n)
	}
	if found, err := run.Recall("other", &n); found || err != nil {
		t.Errorf("no note: %v, %v", found, err)
	}
	if _, err := run.Recall("old", &n); !errors.Is(err, lost) {
		t.Errorf("lost note: %v", err)
	}
	if !slices.Equal(run.Warnings(), []string{"pod p"}) || len(run.Progress()) != 1 || run.ID() == "" || run.Round() != 1 {
		t.Errorf("%q, %v, %q, %d", run.Warnings(), run.Progress(), run.ID(), run.Round())
	}
	if data, err := run.ReadExport(ctx, "whole"); err == nil {
		t.Errorf("an export that nobody made: %q", data)
	}
	if err := run.Export(ctx, "whole", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if data, err := run.ReadExport(ctx, "whole"); err != nil || string(data) != "abc" {
		t.Errorf("export: %q, %v", data, err)
	}
	if run.Summarize("%d pods", 3); run.Summary() != "3 pods" || !run.Step("lock").Done || run.Step("shut").Done {
		t.Errorf("%q, %+v", run.Summary(), run.Step("lock"))
	}
	if runbook.PermitFrom(ctx).Authorize(ctx) == nil {
		t.Error("a fake run has a permit")
	}
	ended, cancel := context.WithCancelCause(ctx)
	cancel(lost)
	if err := run.Note(ended, "n", 3); !errors.Is(err, lost) {
		t.Errorf("noting after the end: %v", err)
	}
}
