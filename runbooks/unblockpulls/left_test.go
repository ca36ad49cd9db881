package unblockpulls_test

import (
	"net/http"
	"strings"
	"testing"

	"salve/engine"
	"salve/internal/prow/githubsim"
	"salve/journal"
	"salve/runbook"
)

// TestWhatChangesBeforeTheCommentIsLeft: between the plan and the comment, at the latest moment that can be seen.
func TestWhatChangesBeforeTheCommentIsLeft(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*world)
		says   string
	}{
		"the head moves": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Head = githubsim.SHA("pushed") })
		}, "head moved"},
		"it becomes a draft": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Draft = true })
		}, "draft"},
		"it is closed": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Closed = true })
		}, "closed"},
		"it conflicts": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Conflict = true })
		}, "conflicts"},
		"it is no longer trusted": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Labels = []string{"needs-ok-to-test"} })
		}, "untrusted"},
	} {
		for moment, n := range map[string]int{"before its step": 1, "right before the comment": 2} {
			t.Run(what+", "+moment, func(t *testing.T) {
				in(t, func(w *world) {
					result := w.disturbed(before(n, http.MethodGet, "/pulls/7", func() { row.change(w) }))
					w.ends(result, runbook.Remediated)
					w.commented(0)
					for _, finding := range result.Findings {
						if finding.Guard == "contexts-there" && !strings.Contains(finding.Reason, row.says) {
							w.Errorf("it says %q", finding.Reason)
						}
					}
				})
			})
		}
	}
}

// TestWhatIsDoneByOthersMeanwhileIsLeft: they started the job, or reported, or took the requirement away, or asked.
func TestWhatIsDoneByOthersMeanwhileIsLeft(t *testing.T) {
	for what, change := range map[string]func(*world){
		"a job was started": func(w *world) {
			w.job(of(7, "unit"), nil)
			w.status(headOf(7), "unit", "pending")
		},
		"it was reported":          func(w *world) { w.status(headOf(7), "unit", "success") },
		"it is no longer required": func(w *world) { w.requires("cla") },
		"another run asked for it": func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) {
				body := "/test unit\n<!-- salve unblock-pull-requests head=" + headOf(7) + " context=unit -->"
				pull.Comments = append(pull.Comments, githubsim.Comment{ID: 1, Author: "jo", Body: body})
			})
			w.status(headOf(7), "unit", "pending")
			w.job(of(7, "unit"), nil)
		},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				found := w.discovered()
				change(w)
				result := w.runBook(w.made(w.of(nil), found))
				w.ends(result, runbook.Remediated)
				w.commented(0)
				record, err := journal.Load(w.Context(), w.journal, result.Run)
				if err != nil {
					w.Fatal(err)
				}
				if step := record.Step("trigger kube/widgets#7 unit"); step.Attempts != 0 {
					w.Errorf("it was begun: %+v", step)
				}
			})
		})
	}
}

func TestAMarkOfAnotherHeadIsNone(t *testing.T) {
	in(t, func(w *world) {
		w.pull(7, func(pull *githubsim.Pull) {
			body := "<!-- salve unblock-pull-requests head=" + headOf(8) + " context=unit -->"
			pull.Comments = append(pull.Comments, githubsim.Comment{ID: 1, Author: "sam", Body: body})
		})
		w.ends(w.run(), runbook.Remediated)
		w.commented(1)
	})
}

func TestWhatIsLeftIsNotPlanned(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*world)
		says   string
	}{
		"a draft": {func(w *world) { w.pull(7, func(pull *githubsim.Pull) { pull.Draft = true }) }, "draft"},
		"a conflict": {func(w *world) { w.pull(7, func(pull *githubsim.Pull) { pull.Conflict = true }) },
			"conflicts"},
		"of somebody whom nobody trusted": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Association = "NONE" })
		}, "untrusted"},
		"a job that runs": {func(w *world) { w.job(of(7, "unit"), nil) }, "ProwJob unit-7 is triggered"},
		"a context that is there": {func(w *world) { w.status(headOf(7), "unit", "failure") },
			"nothing to ask for: 1 open"},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				row.change(w)
				w.finds(no, "", row.says)
			})
		})
	}
}

// TestTwoRunsAtOnce: while one is at work on a GitHub, another is refused.
func TestTwoRunsAtOnce(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		var second error
		book := w.made(w.of(before(1, http.MethodPost, "/issues/7", func() {
			_, second = w.engine().Run(w.Context(), w.made(w.of(nil), found), engine.Options{})
		})), found)
		w.ends(w.runBook(book), runbook.Remediated)
		w.commented(1)
		if second == nil {
			w.Error("two runs were at work")
		}
	})
}
