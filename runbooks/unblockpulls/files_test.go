package unblockpulls_test

import (
	"strings"
	"testing"

	"salve/internal/prow/githubsim"
	"salve/runbook"
)

// TestFilesThatDoNotMatch: docs became required by mistake. Nothing is posted on the whole branch, and what mends it is
// named.
func TestFilesThatDoNotMatch(t *testing.T) {
	in(t, func(w *world) {
		w.requires("cla", "docs", "unit")
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "main.go"}} })
		w.pull(8, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "docs/a.md"}} })
		w.finds(no, runbook.NeedsAttention, "salve run repair-branch-protection", `kube/widgets#7 "docs"`,
			`kube/widgets#8 "docs": the protection of main comes first`)
		w.commented(0)
	})
}

func TestFilesThatMatch(t *testing.T) {
	in(t, func(w *world) {
		w.requires("cla", "docs")
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "docs/a.md"}} })
		w.ends(w.run(), runbook.Remediated)
		w.commented(1)
		if len(w.heeded) != 1 || w.heeded[0] != "#7 docs" {
			w.Errorf("hook started %q", w.heeded)
		}
	})
}

// TestFilesThatStopMatchingBeforeTheComment: the change of a pull request is another one than it was planned for.
func TestFilesThatStopMatchingBeforeTheComment(t *testing.T) {
	in(t, func(w *world) {
		w.requires("cla", "docs")
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "docs/a.md"}} })
		found := w.discovered()
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "main.go"}} })
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "salve run repair-branch-protection")
		w.commented(0)
	})
}

// TestACommentThatWouldStartOthersIsNotWritten: the words of the comment itself start another job.
func TestACommentThatWouldStartOthersIsNotWritten(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", today+`  - {name: nosy, trigger: 'required here', rerun_command: required here, spec: {containers: [{image: golang}]}}
`)
		w.ends(w.run(), runbook.Failed, `would start ["unit" "nosy"]`)
		w.commented(0)
	})
}

// TestWhatTheConfigurationRequiresTooHasToBeCorrectedThere: a repair of the protection would leave it.
func TestWhatTheConfigurationRequiresTooHasToBeCorrectedThere(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.Replace(today, "{protect: true}",
			"{protect: true, required_status_checks: {contexts: [docs]}}", 1))
		w.requires("docs")
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "main.go"}} })
		w.finds(no, runbook.NeedsAttention, "the configuration requires it too")
	})
}

// TestRequiredOfNobody: a ghost beside what could be started.
func TestRequiredOfNobody(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		w.requires("cla", "ghost", "unit")
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "protection-right", `"ghost"`)
		w.commented(0)
		w.finds(no, runbook.NeedsAttention, `"ghost": no job of Prow reports it`, "repair-branch-protection")
		w.sim.Update(func(github *githubsim.World) { // somebody reports it on other commits
			repo := github.Repo("kube/widgets")
			ghost := githubsim.Status{Context: "ghost", State: "success", Creator: "jo"}
			repo.Commit(repo.Branch("main").Head).Statuses = []githubsim.Status{ghost}
		})
		if in := w.discovered(); len(in.Planned) != 1 {
			w.Errorf("planned: %+v", in)
		}
	})
}
