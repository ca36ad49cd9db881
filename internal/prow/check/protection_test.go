package check_test

import (
	"strings"
	"testing"

	"salve/internal/prow/check"
	"salve/internal/prow/finding"
)

func replace(t *testing.T, text, old, fresh string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in %q", old, text)
	}
	return strings.ReplaceAll(text, old, fresh)
}

// protected is an instance that protects org/app, with unit required by hand.
func protected(job string) instance {
	return instance{"config.yaml": `branch-protection:
  orgs:
    org:
      repos:
        app:
          protect: true
          required_status_checks:
            contexts:
            - unit
`, "jobs/a.yaml": "presubmits:\n  org/app:\n  - {name: unit, " + job + ", spec: " + pod + "}\n"}
}

func TestB1Conditional(t *testing.T) {
	for name, test := range map[string]struct {
		files instance
		want  []string
		says  string
	}{
		"always runs": {protected("always_run: true"), nil, ""},
		"conditional": {protected("run_if_changed: go"),
			[]string{"ALERT config.yaml:9:15 org/app context=unit"}, "run_if_changed"},
		"skipped for docs": {protected("skip_if_only_changed: md"),
			[]string{"ALERT config.yaml:9:15 org/app context=unit"}, "skip_if_only_changed"},
		"silent": {protected("always_run: true, skip_report: true"),
			[]string{"ALERT config.yaml:9:15 org/app context=unit"}, "skip_report"},
		"optional and conditional": {protected("run_if_changed: go, optional: true"),
			[]string{"ALERT config.yaml:9:15 org/app context=unit"}, ""},
		"optional": {protected("always_run: true, optional: true"),
			[]string{"WARN config.yaml:9:15 org/app context=unit"}, "GitHub blocks a merge that Tide tries"},
		"by comment": {protected("always_run: false"),
			[]string{"INFO config.yaml:9:15 org/app context=unit"}, "comment"},
		"before the merge, by Tide": {protected("always_run: false, run_before_merge: true"), nil, ""},
		"by comment, as the policy wants": {protected("always_run: false").with("config.yaml",
			replace(t, protected("")["config.yaml"], "protect: true",
				"protect: true\n          require_manually_triggered_jobs: true")),
			nil, ""},
		"runs on a branch that is listed": {protected("always_run: true, branches: [main]").with("config.yaml",
			protected("")["config.yaml"]+"          branches: {main: {protect: true}}\n"), nil, ""},
		"runs not on a branch that is listed": {protected("always_run: true, branches: [main]").with("config.yaml",
			protected("")["config.yaml"]+"          branches: {main: {protect: true}, release: {protect: true}}\n"),
			[]string{"ALERT config.yaml:9:15 org/app context=unit"},
			"job unit does not run (jobs/a.yaml:3:5) on branch release"},
		"runs not on a branch that another job names": {protected("always_run: true, branches: [main]").with("jobs/b.yaml",
			"presubmits:\n  org/app:\n  - {name: old, always_run: true, branches: [^release-1$], spec: "+pod+"}\n"),
			[]string{"WARN config.yaml:9:15 org/app context=unit"}, "release-1"},
		"runs not on a branch that nobody names": {protected("always_run: true, skip_branches: [master]"), nil, ""},
		"another job on the same branch always runs": {protected("run_if_changed: go, branches: [^main$]").with("jobs/b.yaml",
			"presubmits:\n  org/app:\n  - {name: unit, always_run: true, branches: [^other$], spec: "+pod+"}\n"),
			[]string{"ALERT config.yaml:9:15 org/app context=unit"}, "on branch main"},
		"conditional, and required by nobody": {protected("run_if_changed: go").with("config.yaml",
			"branch-protection: {orgs: {org: {protect: true}}}\n"), nil, ""},
		"conditional, where branchprotector doesn't look": {protected("run_if_changed: go").with("config.yaml",
			replace(t, protected("")["config.yaml"], "protect: true", "unmanaged: true")), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "B1", facts(t, test.files, nil))
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says)
			}
		})
	}
}

func TestB2Ghost(t *testing.T) {
	unit := "presubmits:\n  org/app:\n  - {name: unit-tests, always_run: true, spec: " + pod + "}\n"
	requires := func(context string) instance {
		return instance{"config.yaml": replace(t, protected("")["config.yaml"], "- unit", "- "+context), "jobs/a.yaml": unit}
	}
	listed := []check.Pattern{{Text: "cla/*"}}
	for name, test := range map[string]struct {
		files    instance
		external []check.Pattern
		want     []string
		says     string
	}{
		"a job reports it": {requires("unit-tests"), nil, nil, ""},
		"nobody known reports it": {requires("cla/linux"), nil,
			[]string{"UNKNOWN config.yaml:9:15 external checks"}, "cla/linux"},
		"on the list of external checks": {requires("cla/linux"), listed, nil, ""},
		"not on that list": {requires("dco"), listed, []string{"WARN config.yaml:9:15 context=dco"},
			"not among the external"},
		"nearly the context of a job": {requires("unit-test"), nil, []string{"WARN config.yaml:9:15 context=unit-test"}, `"unit-tests"?`},
		"Tide's own, where Tide merges": {requires("tide").with("config.yaml",
			requires("tide")["config.yaml"]+"tide: {queries: [{orgs: [org]}]}\n"), nil, nil, ""},
		"Tide's own, where it does not": {requires("tide"), nil, []string{"UNKNOWN config.yaml:9:15 external checks"},
			"tide"},
		"a .prow.yaml may have the job": {requires("dco").with("config.yaml",
			requires("dco")["config.yaml"]+"in_repo_config: {enabled: {org: true}}\n"), listed, nil, ""},
		"a job of another repository only": {requires("lint-all").with("jobs/b.yaml",
			"presubmits:\n  org/other:\n  - {name: lint-all, always_run: true, spec: "+pod+"}\n"), nil,
			[]string{"WARN config.yaml:9:15 context=lint-all"}, "reported on org/other"},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, test.files, nil)
			given.Options.External = test.external
			found, _ := run(t, "B2", given)
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says)
			}
		})
	}
}

func TestPolicyErrors(t *testing.T) {
	job := "presubmits:\n  org/app:\n  - {name: unit, always_run: true, spec: " + pod + "}\n"
	for name, test := range map[string]struct {
		config string
		want   []string
	}{
		"sound": {"branch-protection: {orgs: {org: {protect: true}}}\n", nil},
		"off although a job is required": {"branch-protection: {orgs: {org: {protect: false}}}\n",
			[]string{"ALERT config.yaml:1:34 org jobs-require-protection"}},
		"off although a job is required, and allowed": {"branch-protection: {allow_disabled_job_policies: true, " +
			"orgs: {org: {protect: false}}}\n", nil},
		"a branch that says nothing": {"branch-protection: {orgs: {org: {repos: {app: {branches: {main: {}}}}}}}\n",
			[]string{"ALERT config.yaml:1:59 org/app=main no-protect"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "policy-error", facts(t, instance{"config.yaml": test.config, "jobs/a.yaml": job}, nil))
			expect(t, found, test.want...)
		})
	}
}

func TestPolicyOfAppsDependsOnTheDeployedProtector(t *testing.T) {
	files := instance{"config.yaml": "branch-protection: {orgs: {org: {repos: {app: {protect: true, restrictions: " +
		"{apps: [bot]}}}}}}\n"}
	protector := func(flag string) instance {
		return files.with("manifests/a.yaml", replace(t, deployment("branchprotector", "v1"), "args: [", "args: ["+flag))
	}
	for name, test := range map[string]struct {
		files instance
		want  []string
	}{
		"none is known":    {files, nil},
		"with the flag":    {protector("--enable-apps-restrictions,"), nil},
		"without the flag": {protector(""), []string{"ALERT config.yaml:1:48 org/app apps"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "policy-error", facts(t, test.files, nil))
			expect(t, found, test.want...)
		})
	}
}

func TestContextConflicts(t *testing.T) {
	job := "presubmits:\n  org/app:\n  - {name: unit, always_run: true, optional: true, spec: " + pod + "}\n"
	conflict := "tide:\n  queries: [{orgs: [org]}]\n  context_options: {required-contexts: [unit]}\n"
	for name, test := range map[string]struct {
		config string
		want   []string
	}{
		"sound": {"tide:\n  queries: [{orgs: [org]}]\n", nil},
		"both required and optional": {conflict,
			[]string{"ALERT jobs/a.yaml:3:5 org/app context=unit required and optional"}},
		"where Tide merges nothing": {replace(t, conflict, "orgs: [org]", "orgs: [other]"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "context-conflict", facts(t, instance{"config.yaml": test.config, "jobs/a.yaml": job}, nil))
			expect(t, found, test.want...)
		})
	}
}

func TestLoading(t *testing.T) {
	for name, test := range map[string]struct {
		rule  string
		files instance
		want  []string
	}{
		"refused": {"prow-refused", instance{"config.yaml": "plank: {}\n",
			"jobs/a.yaml": "periodics:\n- {name: a b, interval: 1h, spec: " + pod + "}\n"},
			[]string{"ALERT jobs/a.yaml:2:3"}},
		"dropped": {"prow-dropped", instance{"config.yaml": "plank: {}\nplank: {}\n"},
			[]string{"WARN config.yaml:2:1"}},
		"unknown": {"unknown-field", instance{"config.yaml": "plank: {}\nplonk: {}\n"},
			[]string{"WARN config.yaml:2:1 config.yaml: plonk"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, test.rule, facts(t, test.files, nil))
			if len(found) != 1 || !strings.HasPrefix(short(found[0]), test.want[0]) || found[0].Mend == "" {
				t.Errorf("%+v", found)
			}
			quiet, verdict := run(t, test.rule, facts(t, healthy(), nil))
			expect(t, quiet)
			expectVerdict(t, verdict, finding.OK, "")
		})
	}
}
