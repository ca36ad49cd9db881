package repairprotection_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"salve/internal/prow/githubsim"
	"salve/journal"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/repairprotection"
)

// repaired is a world after a run, and what that run kept.
func (w *world) repaired() (kept func(context.Context, int) (repairprotection.Previous, bool, error), run string) {
	w.Helper()
	result := w.run()
	w.ends(result, runbook.Remediated)
	w.sim.ForgetCalls()
	return func(ctx context.Context, at int) (previous repairprotection.Previous, _ bool, _ error) {
		record, err := journal.Load(ctx, w.journal, result.Run)
		if err != nil {
			return previous, false, err
		}
		if _, noted := record.Stored("", repairprotection.ExportName(at)); !noted {
			return previous, false, nil
		}
		raw, err := record.ReadExport(ctx, repairprotection.ExportName(at))
		if err == nil {
			err = json.Unmarshal(raw, &previous)
		}
		return previous, err == nil, err
	}, result.Run
}

func (w *world) undoing(
	kept func(context.Context, int) (repairprotection.Previous, bool, error),
	wrap func(http.RoundTripper) http.RoundTripper,
) repairprotection.UndoWorld {
	of := w.of(wrap)
	return repairprotection.UndoWorld{
		GitHub: of.GitHub, Endpoint: of.Endpoint, Cluster: of.Cluster, Places: 2, Previous: kept,
	}
}

// undo looks what is to be undone, and undoes it.
func (w *world) undo(in repairprotection.UndoInputs,
	kept func(context.Context, int) (repairprotection.Previous, bool, error),
) (runbook.Runbook, runbook.Finding) {
	w.Helper()
	world := w.undoing(kept, nil)
	found, finding := repairprotection.DiscoverUndo(w.Context(), world, in)
	if finding.Answer != runbook.AnswerHolds {
		return runbook.Runbook{}, finding
	}
	book, err := repairprotection.NewUndo(world, found)
	if err != nil {
		w.Fatal(err)
	}
	return book, finding
}

func undoInputs(run string) repairprotection.UndoInputs {
	in := repairprotection.UndoDefaults()
	in.Run = run
	return in
}

func TestUndoPutsBackWhatWasThere(t *testing.T) {
	in(t, func(w *world) {
		w.protection("kube/widgets", func(branch *githubsim.Branch) {
			branch.Protection.RequiredPullRequestReviews = &githubsim.Reviews{Approvals: 2}
		})
		kept, run := w.repaired()
		book, _ := w.undo(undoInputs(run), kept)
		w.ends(w.runBook(book), runbook.Remediated)
		w.requires("kube/widgets", "cla", "docs", "unit")
		w.protection("kube/widgets", func(branch *githubsim.Branch) {
			if branch.Protection.RequiredPullRequestReviews == nil {
				t.Error("reviews are no longer required")
			}
		})
		if _, finding := w.undo(undoInputs(run), kept); !strings.Contains(finding.Reason, "nothing of run") {
			t.Errorf("asked again it says %s", finding.Reason)
		}
	})
}

func TestUndoLeavesWhatSomebodyChangedSince(t *testing.T) {
	in(t, func(w *world) {
		kept, run := w.repaired()
		w.protection("kube/widgets", func(branch *githubsim.Branch) { branch.Protection.RequiredLinearHistory = true })
		_, finding := w.undo(undoInputs(run), kept)
		if finding.Answer != runbook.AnswerDoesNotHold || !strings.Contains(finding.Reason, "kube/widgets=main") {
			t.Errorf("%s: %s", finding.Answer, finding.Reason)
		}
	})
}

func TestUndoUnprotectsNothingWithoutAWord(t *testing.T) {
	in(t, func(w *world) {
		w.protection("kube/gadgets", func(branch *githubsim.Branch) { branch.Protection = nil })
		kept, run := w.repaired()
		book, _ := w.undo(undoInputs(run), kept)
		w.ends(w.runBook(book), runbook.NeedsAttention, "no-branch-unprotected", "kube/gadgets=main")
		w.unchanged()
		allowed := undoInputs(run)
		allowed.AllowUnprotect = map[string]string{"kube/gadgets=main": "it never was"}
		book, _ = w.undo(allowed, kept)
		w.ends(w.runBook(book), runbook.Remediated)
		if w.required("kube/gadgets", "main") != nil {
			t.Error("it is protected still")
		}
	})
}

// TestUndoTakesNoRecordsWord: the inputs name another branch than the run kept.
func TestUndoTakesNoRecordsWord(t *testing.T) {
	in(t, func(w *world) {
		kept, run := w.repaired()
		world := w.undoing(kept, nil)
		forged := undoInputs(run)
		forged.Branches = []repairprotection.Restored{{At: 0, Planned: repairprotection.Planned{Branch: "kube/gadgets=main"}}}
		book, err := repairprotection.NewUndo(world, forged)
		if err != nil {
			t.Fatal(err)
		}
		w.ends(w.runBook(book), runbook.Undecided, "kept nothing of kube/gadgets=main")
		w.unchanged()
	})
}

func TestCrashAnywhereOfUndo(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		w := newWorld(t)
		kept, run := w.repaired()
		found, finding := repairprotection.DiscoverUndo(t.Context(), w.undoing(kept, nil), undoInputs(run))
		if len(found.Branches) != 1 {
			t.Fatal(finding.Reason)
		}
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				wrap := func(next http.RoundTripper) http.RoundTripper { return process.Transport(next) }
				book, err := repairprotection.NewUndo(w.undoing(kept, wrap), found)
				if err != nil {
					t.Fatal(err)
				}
				return book
			},
			Verify: func() { w.requires("kube/widgets", "cla", "docs", "unit") },
		}
	}, runbooktest.VirtualTime())
}
