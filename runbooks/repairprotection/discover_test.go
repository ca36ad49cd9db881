package repairprotection_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/githubsim"
	"salve/runbook"
	"salve/runbooks/repairprotection"
)

// wholeOrg protects all repositories of an organization.
const wholeOrg = `
prowjob_namespace: prow
pod_namespace: test-pods
branch-protection:
  orgs:
    kube:
      protect: true
      exclude: [^dependabot/]
      repos:
        sandbox: {protect: false}
presubmits:
  kube/sandbox:
  - {name: play, always_run: true, branches: [^main$], spec: {containers: [{image: golang}]}}
`

// TestDiscovery looks at what branchprotector would look at, and at nothing else.
func TestDiscovery(t *testing.T) {
	w := newWorld(t)
	w.write("config.yaml", wholeOrg)
	w.sim.Update(func(github *githubsim.World) {
		for _, name := range []string{"archived", "widgets-ghsa-1234-abcd-5678", "sandbox"} {
			github.Repo("kube/" + name).Collaborators = map[string]string{"root": "admin"}
		}
		github.Repo("kube/archived").Archived = true
		github.Repo("kube/widgets-ghsa-1234-abcd-5678").Private = true
		github.Repo("kube/gadgets").Branch("dependabot/npm")
		github.Repo("kube/gadgets").Branch("release/1.0").Protection = githubsim.Require("build")
		github.Repo("kube/sandbox").Branch("play").Protection = githubsim.Require("x")
	})
	found := w.discovered()
	var names []string
	for _, planned := range found.Branches {
		names = append(names, planned.Branch)
	}
	slices.Sort(names)
	// No context is to be required: those of others stay, and a protection that is there is right.
	want := []string{"kube/attic=main", "kube/sandbox=play"}
	if !slices.Equal(names, want) {
		t.Errorf("found %q, want %q", names, want)
	}
	if len(found.Uncomputable) != 1 || !strings.Contains(found.Uncomputable[0], "kube/sandbox=main") {
		t.Errorf("it can't be computed of %q", found.Uncomputable)
	}
}

func TestDiscoveryIsNarrowedByScope(t *testing.T) {
	w := newWorld(t)
	w.in.Repos = []string{"kube/gadgets"}
	_, finding := repairprotection.Discover(t.Context(), w.of(nil), w.in)
	if finding.Answer != runbook.AnswerDoesNotHold || !strings.Contains(finding.Reason, "1 branches") {
		t.Errorf("%s: %s", finding.Answer, finding.Reason)
	}
	for _, call := range w.sim.Calls() {
		if strings.Contains(call.Path, "widgets") {
			t.Errorf("GitHub was asked for %s", call.Path)
		}
	}
}

// TestLeftoversOfJobsThatAreGone are found by the configuration as it was; what only leftovers could be in, and can't
// be
// read, is named.
func TestLeftoversOfJobsThatAreGone(t *testing.T) {
	w := newWorld(t)
	w.write("before.yaml",
		today+"  kube/old:\n  - {name: rust, always_run: true, spec: {containers: [{image: golang}]}}\n"+
			"  kube/lost:\n  - {name: rust, always_run: true, spec: {containers: [{image: golang}]}}\n")
	w.sim.Update(func(github *githubsim.World) {
		repo := github.Repo("kube/old")
		repo.Collaborators = map[string]string{"root": "admin"}
		repo.Branch("main").Protection = githubsim.Require("cla", "rust")
	})
	w.in.BaseConfig = w.path("before.yaml")
	found := w.discovered()
	if len(found.Leftovers) != 1 || found.Leftovers[0] != "kube/old=main requires rust" {
		t.Errorf("leftovers: %q", found.Leftovers)
	}
	if len(found.Unseen) != 1 || !strings.Contains(found.Unseen[0], "kube/lost") {
		t.Errorf("unseen: %q", found.Unseen)
	}
}

// TestARepositoryThatIsManagedHasToBeSeen: without it nothing is known of what differs.
func TestARepositoryThatIsManagedHasToBeSeen(t *testing.T) {
	w := newWorld(t)
	w.sim.Inject(githubsim.Fault{Path: "/repos/kube/gadgets/branches", Status: http.StatusNotFound, Message: "Not Found",
		Times: -1})
	_, finding := repairprotection.Discover(t.Context(), w.of(nil), w.in)
	if finding.Answer != runbook.AnswerUnknown || !strings.Contains(finding.Reason, "kube/gadgets") {
		t.Errorf("%s: %s", finding.Answer, finding.Reason)
	}
}

// TestPullRequestsThatWait are named in the plan, and at the end it is said what they wait for now.
func TestPullRequestsThatWait(t *testing.T) {
	for rule, row := range map[string]struct {
		arrange func(*githubsim.Repository)
		says    string
	}{
		"it can be merged": {func(*githubsim.Repository) {}, "mergeable: kube/widgets#7 (mergeable)"},
		"it conflicts": {func(repo *githubsim.Repository) { repo.Pull(7).Conflict = true },
			"it conflicts with its base"},
		"somebody closed it": {func(repo *githubsim.Repository) { repo.Pull(7).Closed = true }, "closed or merged"},
		"a job of it is red": {func(repo *githubsim.Repository) {
			repo.Commit(repo.Pull(7).Head).Statuses[1].State = "failure"
		}, "waiting for something else: kube/widgets#7 (not green: unit)"},
		"a ruleset requires more": {func(repo *githubsim.Repository) {
			repo.Rulesets = []githubsim.Ruleset{{ID: 1, Branches: []string{"*"}, Checks: []githubsim.Check{{Context: "legal"}}}}
		}, "not green: legal"},
	} {
		t.Run(rule, func(t *testing.T) {
			in(t, func(w *world) {
				found := w.discovered()
				if len(found.Pulls) != 1 || found.Pulls[0].Number != 7 || !slices.Equal(found.Pulls[0].Waits, []string{"docs"}) {
					w.Fatalf("it waits: %+v", found.Pulls)
				}
				w.sim.Update(func(github *githubsim.World) { row.arrange(github.Repo("kube/widgets")) })
				said := ""
				book := w.made(w.of(nil), found)
				for i, check := range book.Checks {
					if check.Name == "pulls-free" {
						book.Checks[i].Evaluate = heard(check, &said)
					}
				}
				w.ends(w.runBook(book), runbook.Remediated)
				if !strings.Contains(said, row.says) {
					w.Errorf("it says %q, want something about %q", said, row.says)
				}
			})
		})
	}
}
