package check_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
)

// named reads org/repo=branch.
func named(name string) config.Branch {
	repository, branch, _ := strings.Cut(name, "=")
	org, repo, _ := strings.Cut(repository, "/")
	return config.Branch{Org: org, Repo: repo, Name: branch}
}

// requiring is a branch that is protected and requires contexts.
func requiring(contexts ...string) check.LiveBranch {
	live := check.LiveBranch{Protection: github.Protection{Protected: true}}
	if len(contexts) > 0 {
		live.Protection.Settings.StatusChecks = checks(contexts...)
	}
	return live
}

func checks(contexts ...string) *github.StatusChecks {
	checks := &github.StatusChecks{}
	for _, context := range contexts {
		checks.Checks = append(checks.Checks, github.Check{Context: context})
	}
	return checks
}

// ruled is the branch with a ruleset that requires contexts, too.
func ruled(live check.LiveBranch, contexts ...string) check.LiveBranch {
	live.Rules = []github.Rule{{Ruleset: github.Ruleset{ID: 7, Source: "org"}, StatusChecks: checks(contexts...)}}
	return live
}

// onGitHub are branches as GitHub has them.
func onGitHub(branches map[string]check.LiveBranch) *check.GitHub {
	live := &check.GitHub{Branches: map[config.Branch]check.LiveBranch{}, Heads: map[config.Branch]check.Heads{}}
	for name, branch := range branches {
		live.Branches[named(name)] = branch
	}
	return live
}

// asConfigured is a GitHub on which branches are protected as the configuration says.
func asConfigured(t *testing.T, given check.Facts, names ...string) *check.GitHub {
	t.Helper()
	branches := map[string]check.LiveBranch{}
	for _, name := range names {
		decision, err := given.Now.Partial().Protector(named(name), config.ProtectorFlags{AppsRestrictions: true})
		if err != nil {
			t.Fatal(err)
		}
		var live check.LiveBranch
		if decision.Action == config.Protect {
			live.Protection.Protected = true
			live.Protection.Settings = protection.Desired(decision.Policy, github.Settings{}, nil)
		}
		branches[name] = live
	}
	return onGitHub(branches)
}

// guarded is an instance with a job of each kind, of which main of app requires unit, and cla of others.
func guarded() instance {
	return instance{"config.yaml": `pod_namespace: test-pods
branch-protection:
  orgs:
    org:
      repos:
        app:
          protect: true
          enforce_admins: true
          required_status_checks: {contexts: [cla]}
          branches: {wild: {unmanaged: true}}
`, "jobs/app.yaml": `presubmits:
  org/app:
  - {name: unit, always_run: true, spec: ` + pod + `}
  - {name: docs, run_if_changed: ^docs/, spec: ` + pod + `}
  - {name: slow, spec: ` + pod + `}
`}
}

const main = "org/app=main"

// bound is a branch whose admins are bound, as guarded says.
func bound(live check.LiveBranch) check.LiveBranch {
	live.Protection.Settings.EnforceAdmins = true
	return live
}

func TestOpenPullRequestsOfGitHub(t *testing.T) {
	after := guarded().with("jobs/app.yaml", strings.Replace(guarded()["jobs/app.yaml"], "{name: slow,",
		"{name: slow, always_run: true,", 1))
	given := facts(t, after, guarded())
	given.GitHub = asConfigured(t, given, main, "org/app=wild")
	if got := check.Awaited(given); !slices.Equal(got, []config.Branch{named(main)}) {
		t.Errorf("awaited %v", got)
	}
	given.GitHub.Pulls = []check.PullRequest{{Branch: named(main), Number: 4, Contexts: []string{"unit"}},
		{Branch: named(main), Number: 5, Contexts: []string{"unit", "slow"}}}
	given.GitHub.PullsUnread = map[string]string{"org/app#6": "rate limit: reset at 13:00"}
	found, verdict := run(t, "open-pull-requests", given)
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	expectEvidence(t, found[0], "1 open pull request would wait", "#4 into main lacks slow")
	expectVerdict(t, verdict, finding.Warn, "org/app#6: rate limit: reset at 13:00")
}

// TestManyReasonsAreBounded: a list of all would hide the first.
func TestManyReasonsAreBounded(t *testing.T) {
	given := facts(t, guarded(), nil)
	given.GitHub = onGitHub(nil)
	long := strings.Repeat("5", 5000)
	given.GitHub.Unread = map[string]string{"a/a": "1", "b/b": "2", "c/c": "3", "d/d": "4", "e/e": long}
	_, verdict := run(t, "B3", given)
	if verdict.Reason != "a/a: 1; b/b: 2; c/c: 3; and 2 other reasons" {
		t.Errorf("%q", verdict.Reason)
	}
	given.GitHub.Unread = map[string]string{"e/e": long}
	if _, verdict = run(t, "B3", given); len(verdict.Reason) > 1100 {
		t.Errorf("%d bytes", len(verdict.Reason))
	}
	given.GitHub.Unread, given.History = nil, &check.History{}
	hidden := requiring()
	hidden.Failed = "hidden"
	given.GitHub.Branches[named(main)] = hidden
	_, verdict = run(t, "B7", given)
	expectVerdict(t, verdict, finding.Unknown, "org/app=main: hidden")
}
