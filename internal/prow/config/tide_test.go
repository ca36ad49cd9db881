package config_test

import (
	"errors"
	"strings"
	"testing"

	"salve/internal/prow/config"
)

// TestContextPolicy is the table of section 4: what Tide waits for.
func TestContextPolicy(t *testing.T) {
	jobs := job("always", "always_run: true") + jobItem("docs", "run_if_changed: x") + jobItem("comment") +
		jobItem("maybe", "always_run: true", "optional: true")
	protection := "branch-protection: {orgs: {org: {protect: true, required_status_checks: {contexts: [cla]}}}}\n"
	for name, c := range map[string]struct{ text, required, ifPresent, optional string }{
		"jobs alone": {jobs, "always", "comment docs", "maybe"},
		"options of all levels are joined": {"tide: {context_options: {required-contexts: [a], orgs: {org: " +
			"{required-contexts: [b], repos: {repo: {optional-contexts: [c], branches: {main: " +
			"{required-if-present-contexts: [d]}, other: {required-contexts: [x]}}}, other: {required-contexts: [z]}}}}}}\n" + jobs,
			"a always b", "comment d docs", "c maybe"},
		"protection is not asked":     {protection + jobs, "always", "comment docs", "maybe"},
		"from-branch-protection asks": {"tide: {context_options: {from-branch-protection: true}}\n" + protection + jobs, "always cla", "comment docs", "maybe"},
		"a child says no": {"tide: {context_options: {from-branch-protection: true, orgs: {org: {from-branch-protection: false}}}}\n" +
			protection + jobs, "always", "comment docs", "maybe"},
		"only with protect": {"tide: {context_options: {from-branch-protection: true}}\n" +
			"branch-protection: {orgs: {org: {required_status_checks: {contexts: [cla]}}}}\n" + jobs, "always", "comment docs", "maybe"},
		"only of orgs that are configured": {"tide: {context_options: {from-branch-protection: true}}\n" +
			"branch-protection: {protect: true, required_status_checks: {contexts: [cla]}}\n" + jobs, "always", "comment docs", "maybe"},
		"manual jobs with from-branch-protection": {"tide: {context_options: {from-branch-protection: true}}\n" +
			"branch-protection: {require_manually_triggered_jobs: true, orgs: {org: {protect: true}}}\n" + jobs, "always comment", "docs", "maybe"},
		"manual jobs without: GitHub requires, Tide doesn't": {
			"branch-protection: {require_manually_triggered_jobs: true, orgs: {org: {protect: true}}}\n" + jobs, "always", "comment docs", "maybe"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := sound(t, files{"config.yaml": c.text}).ContextPolicy(on("main"))
			if err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string][2]string{
				"required":   {strings.Join(p.Required.Values(), " "), c.required},
				"if present": {strings.Join(p.RequiredIfPresent.Values(), " "), c.ifPresent},
				"optional":   {strings.Join(p.Optional.Values(), " "), c.optional},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
				}
			}
			if p.Ignored != nil {
				t.Error(p.Ignored)
			}
		})
	}
}

func TestContextsInTwoBuckets(t *testing.T) {
	for name, text := range map[string]string{
		"by the options":           "tide: {context_options: {required-contexts: [a], orgs: {org: {optional-contexts: [a]}}}}",
		"by a level and a job":     "tide: {context_options: {required-contexts: [unit]}}\n" + job("unit"),
		"required if present, too": "tide: {context_options: {optional-contexts: [unit]}}\n" + job("unit"),
		"by the protection": "tide: {context_options: {from-branch-protection: true}}\n" +
			"branch-protection: {orgs: {org: {protect: true, required_status_checks: {contexts: [unit]}}}}\n" + job("unit"),
	} {
		policy, err := sound(t, files{"config.yaml": text}).ContextPolicy(on("main"))
		var wrong *config.ContextError
		if !errors.As(err, &wrong) || len(wrong.Contexts) != 1 || wrong.Buckets[0] == wrong.Buckets[1] {
			t.Errorf("%s: %+v, %v", name, policy, err)
		}
	}
}

// TestAPolicyThatFailsIsIgnoredByTide: it writes a line into its log and goes on.
func TestAPolicyThatFailsIsIgnoredByTide(t *testing.T) {
	p, err := sound(t, files{"config.yaml": "tide: {context_options: {from-branch-protection: true}}\n" +
		"branch-protection: {orgs: {org: {protect: false}}}\n" + job("unit", "always_run: true")}).ContextPolicy(on("main"))
	var wrong *config.PolicyError
	if err != nil || !errors.As(p.Ignored, &wrong) || strings.Join(p.Required.Values(), " ") != "unit" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestContextsThatCount(t *testing.T) {
	for skip, unknown := range map[string]bool{"": true, "skip-unknown-contexts: true, ": false} {
		p, err := sound(t, files{"config.yaml": "tide: {context_options: {" + skip + "required-contexts: [a], " +
			"required-if-present-contexts: [b], optional-contexts: [c]}}"}).ContextPolicy(on("main"))
		if err != nil {
			t.Fatal(err)
		}
		for context, want := range map[string]bool{"a": true, "b": true, "c": false, "other": unknown} {
			if p.Counts(context) != want {
				t.Errorf("%s%s: %v", skip, context, !want)
			}
		}
	}
}

func TestQueriesOfABranch(t *testing.T) {
	c := sound(t, files{"config.yaml": `
tide:
  blocker_label: stop
  github_merge_blocks_policy: {"*": ignore, org: block}
  queries:
  - {orgs: [org], excludedRepos: [org/out], labels: [lgtm], missingLabels: [hold]}
  - {repos: [other/repo], includedBranches: [main]}
  - {repos: [other/repo], excludedBranches: [main, dev], author: bot, milestone: m, reviewApprovedRequired: true}
`})
	for branch, want := range map[config.Branch]int{
		{Org: "org", Repo: "in", Name: "x"}:        1,
		{Org: "org", Repo: "out", Name: "x"}:       0,
		{Org: "other", Repo: "repo", Name: "main"}: 1,
		{Org: "other", Repo: "repo", Name: "dev"}:  0,
		{Org: "other", Repo: "repo", Name: "x"}:    1,
		{Org: "third", Repo: "repo", Name: "x"}:    0,
	} {
		if got := c.Tide.QueriesFor(branch); len(got) != want {
			t.Errorf("%v: %+v", branch, got)
		}
	}
	if c.Tide.BlockerLabel != "stop" || c.Tide.MergeBlocksPolicy("org", "x") != "block" ||
		c.Tide.MergeBlocksPolicy("y", "x") != "ignore" || (config.Tide{}).MergeBlocksPolicy("y", "x") != "permit" {
		t.Errorf("%+v", c.Tide)
	}
	if q := c.Tide.Queries[0]; q.Position.Line != 6 || q.Labels[0] != "lgtm" || q.MissingLabels[0] != "hold" {
		t.Errorf("%+v", q)
	}
}
