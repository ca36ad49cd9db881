package config_test

import (
	"errors"
	"strings"
	"testing"

	"salve/internal/prow/config"
)

// TestPoliciesAreInherited is the table of section 2.2.
func TestPoliciesAreInherited(t *testing.T) {
	c := sound(t, files{"config.yaml": `
branch-protection:
  enforce_admins: true
  required_status_checks: {contexts: [global], strict: true}
  exclude: [dependabot]
  restrictions: {users: [ann]}
  orgs:
    org:
      protect: true
      enforce_admins: false
      required_status_checks: {contexts: [org]}
      required_pull_request_reviews:
        required_approving_review_count: 1
        dismissal_restrictions: {users: [ann], teams: [t]}
      repos:
        repo:
          required_status_checks: {contexts: [repo, global], strict: false}
          exclude: [wip]
          required_pull_request_reviews:
            require_code_owner_reviews: true
            bypass_pull_request_allowances: {users: [bot]}
            dismissal_restrictions: {users: [ben]}
          restrictions: {teams: [owners]}
          branches:
            main:
              allow_force_pushes: true
              required_status_checks: {contexts: [branch]}
              required_pull_request_reviews: {required_approving_review_count: 2}
`, "jobs/a.yaml": job("unit", "always_run: true")})
	p, err := c.Policy(on("main"))
	if err != nil {
		t.Fatal(err)
	}
	values := func(l config.List) string { return strings.Join(l.Values(), " ") }
	for what, pair := range map[string][2]string{
		"lists only grow":     {values(p.Contexts()), "branch global org repo unit"},
		"users":               {values(p.Restrictions.Users), "ann"},
		"teams":               {values(p.Restrictions.Teams), "owners"},
		"who dismisses":       {values(p.Reviews.Dismissal.Users), "ann ben"},
		"who dismisses, team": {values(p.Reviews.Dismissal.Teams), "t"},
		"who bypasses":        {values(p.Reviews.Bypass.Users), "bot"},
		"exclude":             {values(p.Exclude), "dependabot wip"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
		}
	}
	for what, s := range map[string]struct {
		got   config.Bool
		value bool
		level config.Level
		line  int
	}{
		"the child wins":            {p.EnforceAdmins, false, config.LevelOrg, 10},
		"the nearest level wins":    {p.StatusChecks.Strict, false, config.LevelRepo, 17},
		"what only one level says":  {p.Protect, true, config.LevelOrg, 9},
		"what only the branch says": {p.AllowForcePushes, true, config.LevelBranch, 26},
		"nested, beside others":     {p.Reviews.RequireOwners, true, config.LevelRepo, 20},
	} {
		if !s.got.Set || s.got.Value != s.value || s.got.Origin.Level != s.level || s.got.Origin.Position.Line != s.line {
			t.Errorf("%s: %+v", what, s.got)
		}
	}
	if p.Reviews.Approvals.Value != 2 || p.AllowDeletions.Set || p.Unmanaged.Set {
		t.Errorf("%+v", p)
	}
	if from := p.Contexts().Origins("global"); len(from) != 2 || from[0].Level != config.LevelGlobal ||
		from[1].Level != config.LevelRepo {
		t.Errorf("%+v", from)
	}
	if from := p.Contexts().Origins("unit"); len(from) != 1 || from[0].Level != config.LevelJob ||
		from[0].Position.File != "jobs/a.yaml" {
		t.Errorf("%+v", from)
	}
	if other, err := c.Policy(on("other")); err != nil || values(other.Contexts()) != "global org repo unit" {
		t.Errorf("%+v %v", other, err)
	}
}

// TestPolicyErrors are those that make branchprotector fail at run time; loading, and
// checkconfig, say nothing.
func TestPolicyErrors(t *testing.T) {
	always, conditional := job("unit", "always_run: true"), job("unit", "run_if_changed: x")
	for name, c := range map[string]struct {
		protection, jobs string
		reason           config.Reason // empty: no error
		protect          string        // then: true, false, open, none
	}{
		"a listed branch says nothing": {"orgs: {org: {repos: {repo: {branches: {main: {enforce_admins: true}}}}}}", "",
			config.ReasonNoProtect, ""},
		"a listed branch inherits protect": {"protect: true, orgs: {org: {repos: {repo: {branches: {main: {}}}}}}", "",
			"", "true"},
		"a listed branch is unmanaged": {"orgs: {org: {repos: {repo: {branches: {main: {unmanaged: true}}}}}}", "", "", "none"},
		"protect: false with required jobs": {"orgs: {org: {protect: false}}", always,
			config.ReasonJobsRequireProtection, ""},
		"allow_disabled_job_policies": {"allow_disabled_job_policies: true, orgs: {org: {protect: false}}", always, "", "none"},
		"protect: false with conditional jobs": {"orgs: {org: {protect: false}}", conditional, "",
			"false"},
		"protect_repos_with_optional_jobs": {"protect_repos_with_optional_jobs: true, orgs: {org: {protect: false}}",
			conditional, config.ReasonJobsRequireProtection, ""},
		"protect: false beside settings": {"orgs: {org: {protect: false, enforce_admins: true}}", "",
			config.ReasonDisabledPolicy, ""},
		"protect: false under settings of a parent": {"enforce_admins: true, orgs: {org: {protect: false}}", "",
			config.ReasonDisabledPolicy, ""},
		"allow_disabled_policies": {"allow_disabled_policies: true, orgs: {org: {protect: false, enforce_admins: true}}", "",
			"", "false"},
		"manual jobs that the policy requires": {"orgs: {org: {protect: false, require_manually_triggered_jobs: true}}",
			job("unit"), config.ReasonJobsRequireProtection, ""},
		"nothing is said":                       {"orgs: {org: {}}", "", "", "none"},
		"required jobs alone are no opinion":    {"orgs: {org: {}}", always, "", "open"},
		"protect-tested-repos makes them one":   {"protect-tested-repos: true, orgs: {org: {}}", always, "", "true"},
		"protect-tested-repos without required": {"protect-tested-repos: true, orgs: {org: {}}", conditional, "", "none"},
		"and with optional jobs": {"protect-tested-repos: true, protect_repos_with_optional_jobs: true, orgs: {org: {}}",
			conditional, "", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "branch-protection: {" + c.protection + "}\n" + c.jobs
			policy, err := sound(t, files{"config.yaml": text}).Policy(on("main"))
			var wrong *config.PolicyError
			if errors.As(err, &wrong) || c.reason != "" {
				if wrong == nil || wrong.Reason != c.reason || wrong.Origin.Position.Line != 1 || wrong.Branch != on("main") {
					t.Fatalf("%+v, %v", policy, err)
				}
				return
			}
			got := "open"
			switch {
			case errors.Is(err, config.ErrNoPolicy):
				got = "none"
			case policy.Protect.Set && policy.Protect.Value:
				got = "true"
			case policy.Protect.Set:
				got = "false"
			}
			if got != c.protect {
				t.Errorf("protect %s, want %s (%v)", got, c.protect, err)
			}
		})
	}
}

// TestWhatTheProtectorDoes is the table of section 2.3: which branches are looked at,
// and what is done with them.
func TestWhatTheProtectorDoes(t *testing.T) {
	always := job("unit", "always_run: true")
	for name, c := range map[string]struct {
		protection, jobs string
		action           config.Action
		why              string
	}{
		"protect of the org is all of its repositories": {"orgs: {org: {protect: true}}", "", config.Protect, ""},
		"a global protect is those of listed orgs":      {"protect: true, orgs: {org: {}}", "", config.Protect, ""},
		"no org, no work":                           {"protect: true, orgs: {other: {}}", "", config.Leave, "neither named"},
		"a repository that is named":                {"orgs: {org: {repos: {repo: {protect: true}}}}", "", config.Protect, ""},
		"another repository that is named":          {"orgs: {org: {repos: {x: {protect: true}}}}", "", config.Leave, "neither named"},
		"protect: false removes":                    {"orgs: {org: {protect: false}}", "", config.Unprotect, ""},
		"tested, not protected":                     {"orgs: {}", always, config.Leave, "neither named"},
		"protect-tested-repos":                      {"protect-tested-repos: true, orgs: {}", always, config.Protect, ""},
		"protect-tested-repos, nothing tested":      {"protect-tested-repos: true, orgs: {}", "", config.Leave, "neither named"},
		"no opinion on protect":                     {"orgs: {org: {repos: {repo: {enforce_admins: true}}}}", "", config.Leave, "protect is not set"},
		"nothing said":                              {"orgs: {org: {repos: {repo: {}}}}", "", config.Leave, "no policy"},
		"unmanaged globally":                        {"unmanaged: true, orgs: {org: {protect: true}}", "", config.Leave, "level global"},
		"unmanaged org":                             {"orgs: {org: {unmanaged: true, protect: true}}", "", config.Leave, "level org"},
		"unmanaged repository":                      {"orgs: {org: {protect: true, repos: {repo: {unmanaged: true}}}}", "", config.Leave, "level repo"},
		"unmanaged branch":                          {"orgs: {org: {protect: true, repos: {repo: {branches: {main: {unmanaged: true}}}}}}", "", config.Leave, "level branch"},
		"unmanaged globally, managed org":           {"unmanaged: true, orgs: {org: {unmanaged: false, protect: true}}", "", config.Protect, ""},
		"unmanaged org, managed repository":         {"orgs: {org: {unmanaged: true, protect: true, repos: {repo: {unmanaged: false}}}}", "", config.Protect, ""},
		"unmanaged repository, managed branch":      {"orgs: {org: {protect: true, repos: {repo: {unmanaged: true, branches: {main: {unmanaged: false}}}}}}", "", config.Protect, ""},
		"unmanaged org, another repository managed": {"orgs: {org: {unmanaged: true, protect: true, repos: {x: {unmanaged: false}}}}", "", config.Leave, "level org"},
		"unmanaged globally, protect-tested-repos":  {"unmanaged: true, protect-tested-repos: true", always, config.Leave, "level global"},
		"excluded":                         {"orgs: {org: {protect: true, exclude: [m.in]}}", "", config.Leave, "exclude"},
		"excluded, but listed":             {"orgs: {org: {protect: true, exclude: [main], repos: {repo: {branches: {main: {}}}}}}", "", config.Protect, ""},
		"not included":                     {"orgs: {org: {protect: true, include: [release]}}", "", config.Leave, "include"},
		"included":                         {"orgs: {org: {protect: true, include: [ma]}}", "", config.Protect, ""},
		"include beats exclude":            {"include: [main], orgs: {org: {protect: true, exclude: [main]}}", "", config.Protect, ""},
		"expressions of levels are joined": {"exclude: [x], orgs: {org: {protect: true, repos: {repo: {exclude: [main]}}}}", "", config.Leave, "exclude"},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := sound(t, files{"config.yaml": "branch-protection: {" + c.protection + "}\n" + c.jobs})
			got, err := loaded.Protector(on("main"), config.ProtectorFlags{})
			if err != nil || got.Action != c.action || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s (%s), %v", got.Action, got.Why, err)
			}
			if got.Action == config.Protect && !got.Policy.Protect.Value {
				t.Errorf("%+v", got.Policy)
			}
		})
	}
}

func TestTheProtectorFails(t *testing.T) {
	for name, c := range map[string]struct {
		protection string
		flags      config.ProtectorFlags
		reason     config.Reason
	}{
		"no expression":     {"orgs: {org: {protect: true, exclude: ['(']}}", config.ProtectorFlags{}, config.ReasonExpressions},
		"apps":              {"orgs: {org: {protect: true, restrictions: {apps: [a]}}}", config.ProtectorFlags{}, config.ReasonApps},
		"apps with flag":    {"orgs: {org: {protect: true, restrictions: {apps: [a]}}}", config.ProtectorFlags{AppsRestrictions: true}, ""},
		"the policy's own":  {"orgs: {org: {protect: false, enforce_admins: true}}", config.ProtectorFlags{}, config.ReasonDisabledPolicy},
		"the branch's own":  {"orgs: {org: {repos: {repo: {branches: {main: {}}}}}}", config.ProtectorFlags{}, config.ReasonNoProtect},
		"not where it left": {"orgs: {org: {unmanaged: true, protect: false, enforce_admins: true}}", config.ProtectorFlags{}, ""},
	} {
		text := "branch-protection: {" + c.protection + "}\n"
		decision, err := sound(t, files{"config.yaml": text}).Protector(on("main"), c.flags)
		var wrong *config.PolicyError
		if errors.As(err, &wrong) != (c.reason != "") || wrong != nil && wrong.Reason != c.reason {
			t.Errorf("%s: %+v, %v", name, decision, err)
		}
	}
}

func TestInRepo(t *testing.T) {
	c := sound(t, files{"config.yaml": "in_repo_config: {enabled: {'*': true, org: false, org/repo: true}, " +
		"allowed_clusters: {'*': [a]}}\n"})
	for name, want := range map[string]bool{"org/repo": true, "org/x": false, "x/y": true} {
		org, repo, _ := strings.Cut(name, "/")
		if got := c.InRepoEnabled(org, repo); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if sound(t, files{"config.yaml": ""}).InRepoEnabled("org", "repo") {
		t.Error("enabled by nobody")
	}
}
