package repairprotection_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/prow/githubsim"
	"salve/runbook"
)

// TestRepair is the afternoon of 5 February 2019: an old branchprotector made a context required that few pull requests
// get, and the run takes it away again.
func TestRepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.sim.Update(func(github *githubsim.World) {
			live := github.Repo("kube/widgets").Branch("main").Protection
			live.RequiredLinearHistory = true
			live.RequiredPullRequestReviews = &githubsim.Reviews{Approvals: 2, RequireLastPushApproval: true}
			github.Repo("kube/widgets").Pull(7).Approvals = 2
		})
		book := w.book()
		planned, err := w.engine().Plan(t.Context(), book, engine.Options{})
		if err != nil || planned.Plan == nil {
			t.Fatalf("%s: %s (%v)", planned.Outcome, planned.Reason, err)
		}
		if steps := planned.Plan.Steps; len(steps) != 2 || steps[1].Name != "protect kube/widgets=main" ||
			!strings.Contains(string(steps[1].Inputs), "no longer required: docs") {
			t.Errorf("the plan is %+v", steps)
		}
		w.unchanged()
		result := w.runBook(book)
		w.ends(result, runbook.Remediated)
		w.requires("kube/widgets", "cla", "unit")
		w.sim.Update(func(github *githubsim.World) {
			live := github.Repo("kube/widgets").Branch("main").Protection
			if !live.RequiredLinearHistory || live.RequiredPullRequestReviews == nil ||
				!live.RequiredPullRequestReviews.RequireLastPushApproval {
				t.Errorf("what the configuration says nothing about is gone: %+v", live)
			}
		})
		for _, finding := range result.Findings {
			if finding.Guard == "summary" && !strings.Contains(finding.Reason, "Fingerprint of a branchprotector") {
				t.Errorf("the old branchprotector is not named: %s", finding.Reason)
			}
		}
		if again := w.changed(); len(again) != 1 {
			t.Errorf("GitHub was asked for %v", again)
		}
	})
}
