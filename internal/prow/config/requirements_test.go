package config_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/config"
)

func on(name string) config.Branch { return config.Branch{Org: "org", Repo: "repo", Name: name} }

func contextsOf(producers []config.Producer) string {
	var contexts []string
	for _, producer := range producers {
		contexts = append(contexts, producer.Context)
	}
	slices.Sort(contexts)
	return strings.Join(contexts, " ")
}

// TestBuckets is the table of section 2.1: from presubmits to required contexts.
func TestBuckets(t *testing.T) {
	const required, ifPresent, optional, none = "required", "if present", "optional", "none"
	for name, c := range map[string]struct {
		lines            []string
		bucket, demanded string // without, and with require_manually_triggered_jobs
	}{
		"always_run":                        {[]string{"always_run: true"}, required, required},
		"run_if_changed":                    {[]string{"run_if_changed: x"}, ifPresent, ifPresent},
		"skip_if_only_changed":              {[]string{"skip_if_only_changed: x"}, ifPresent, ifPresent},
		"neither: by comment":               {nil, ifPresent, required},
		"run_before_merge is by comment":    {[]string{"run_before_merge: true"}, ifPresent, required},
		"optional":                          {[]string{"always_run: true", "optional: true"}, optional, optional},
		"skip_report":                       {[]string{"always_run: true", "skip_report: true"}, optional, optional},
		"optional by comment":               {[]string{"optional: true"}, optional, optional},
		"not on this branch":                {[]string{"always_run: true", "branches: [release]"}, none, none},
		"skips this branch":                 {[]string{"always_run: true", "skip_branches: [main]"}, none, none},
		"skips this branch that it is for":  {[]string{"always_run: true", "branches: [main]", "skip_branches: [main]"}, none, none},
		"always_run: false is as not there": {[]string{"always_run: false"}, ifPresent, required},
	} {
		for manual, want := range map[bool]string{false: c.bucket, true: c.demanded} {
			req := sound(t, files{"config.yaml": job("unit", append(c.lines, "context: ci/unit")...)}).
				Requirements(on("main"), manual)
			got := none
			for bucket, producers := range map[string][]config.Producer{required: req.Required,
				ifPresent: req.RequiredIfPresent, optional: req.Optional} {
				if len(producers) > 0 {
					got = bucket
					if producers[0].Context != "ci/unit" || producers[0].Job.Name != "unit" {
						t.Errorf("%s: %+v", name, producers[0])
					}
				}
			}
			if got != want {
				t.Errorf("%s (manual %v): %s, want %s", name, manual, got, want)
			}
		}
	}
}

func TestProducersOfAContext(t *testing.T) {
	c := sound(t, files{"config.yaml": job("a", "context: x", "branches: [main]") +
		jobItem("b", "context: x", "branches: [release]") + jobItem("c")})
	if got := namesOf(c.Producers("org", "repo", "x")); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v", got)
	}
	if c.Producers("org", "other", "x") != nil {
		t.Error("another repository's")
	}
}

// TestFingerprint: what a protector of 2019 adds under an unchanged configuration.
func TestFingerprint(t *testing.T) {
	jobs := job("always", "always_run: true") + jobItem("docs", "run_if_changed: docs") +
		jobItem("maybe", "run_if_changed: docs", "optional: true") +
		jobItem("silent", "run_if_changed: docs", "skip_report: true") +
		jobItem("new-field", "skip_if_only_changed: docs") + jobItem("comment") +
		jobItem("elsewhere", "run_if_changed: docs", "branches: [release]") +
		jobItem("written", "run_if_changed: docs", "context: by-hand")
	for name, c := range map[string]struct{ protection, want string }{
		"the contexts of required conditional jobs": {"protect: true", "docs written-out"},
		"protect-tested-repos protects too":         {"protect-tested-repos: true", "docs written-out"},
		"none without protection":                   {"enforce_admins: true", ""},
		"not what is required anyway": {"protect: true, required_status_checks: {contexts: [docs]}",
			"written-out"},
	} {
		text := "branch-protection: {" + c.protection + ", orgs: {org: {}}}\n" +
			strings.Replace(jobs, "by-hand", "written-out", 1)
		extra, err := sound(t, files{"config.yaml": text}).Fingerprint(on("main"))
		if got := strings.Join(extra.Values(), " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	c := sound(t, files{"config.yaml": "branch-protection: {orgs: {org: {protect: false}}}\n" + jobs})
	if extra, err := c.Fingerprint(on("main")); err == nil {
		t.Errorf("%v of a policy that can't be computed", extra)
	}
}
