package drift_test

import (
	"testing"

	"salve/internal/prow/finding"
	"salve/internal/prow/githubsim"
)

// TestWhatAForkCanNameProvesNothing: a required context that nobody reports is not there because a pull request's
// author has a workflow of that name.
func TestWhatAForkCanNameProvesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		owner string
		app   string
		want  finding.Severity
	}{
		"GitHub Actions on a fork's pull request": {"stranger", "github-actions", finding.Alert},
		"an app that is installed":                {"stranger", "cla-app", finding.OK},
		"a status, by who may write":              {"stranger", "", finding.OK},
		"GitHub Actions on a branch of ours":      {"org", "github-actions", finding.OK},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := newWorld(t)
				w.requires("cla", "unit", "ghost")
				w.opens(7, func(pull *githubsim.Pull) { pull.HeadOwner = test.owner }, "cla", "unit")
				w.app(func(app *githubsim.Repository) {
					commit := app.Commit(headOf(7))
					if test.app == "" {
						commit.Statuses = append(commit.Statuses, githubsim.Status{Context: "ghost", State: "success"})
						return
					}
					commit.CheckRuns = append(commit.CheckRuns, githubsim.CheckRun{Name: "ghost", Status: "completed",
						Conclusion: "success", App: test.app, AppID: 1})
				})
				if _, verdicts := w.poll(); verdicts["B2"].Severity != test.want || verdicts["B2"].Reason != "" {
					t.Errorf("%+v", verdicts["B2"])
				}
			})
		})
	}
}
