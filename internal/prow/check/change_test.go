package check_test

import (
	"testing"

	"salve/internal/prow/check"
)

// tested is an instance that protects org/app, with one job.
func tested(job string) instance {
	return instance{"config.yaml": "branch-protection: {orgs: {org: {protect: true}}}\n",
		"jobs/a.yaml": "presubmits:\n  org/app:\n  - {name: lint, always_run: true, spec: " + pod + "}\n" + job}
}

func unit(settings string) string {
	return "  - {name: unit, " + settings + ", spec: " + pod + "}\n"
}

func TestB9Order(t *testing.T) {
	const always = "always_run: true"
	for name, test := range map[string]struct {
		before, after instance
		want          []string
		says          string
	}{
		"nothing changes": {tested(unit(always)), tested(unit(always)), nil, ""},
		"becomes conditional": {tested(unit(always)), tested(unit("run_if_changed: go")),
			[]string{"WARN jobs/a.yaml:4:5 org/app"}, "unit: job unit runs only if files match run_if_changed"},
		"becomes silent": {tested(unit(always)), tested(unit(always + ", skip_report: true")),
			[]string{"WARN jobs/a.yaml:4:5 org/app"}, ""},
		"becomes manual": {tested(unit(always)), tested(unit("always_run: false")),
			[]string{"WARN jobs/a.yaml:4:5 org/app"}, ""},
		"leaves the branch": {tested(unit(always)), tested(unit(always + ", skip_branches: [main, master]")),
			[]string{"WARN jobs/a.yaml:4:5 org/app"}, ""},
		"is gone": {tested(unit(always)), tested(""), []string{"WARN config.yaml:1:28 org/app"},
			"no job reports it"},
		"becomes optional":  {tested(unit(always)), tested(unit(always + ", optional: true")), nil, ""},
		"was conditional":   {tested(unit("run_if_changed: go")), tested(""), nil, ""},
		"was not protected": {tested(unit(always)).with("config.yaml", "plank: {}\n"), tested(""), nil, ""},
		"another job takes over its context": {tested(unit(always)),
			tested("  - {name: unit2, context: unit, always_run: true, spec: " + pod + "}\n"), nil, ""},
		"is gone, and stays required by hand": {protected(always), protected("").with("jobs/a.yaml", "{}\n"),
			[]string{"ALERT config.yaml:9:15 org/app still required"}, "no pull request can be merged"},
		"becomes conditional, and stays required by hand: B1 says it": {protected(always), protected("run_if_changed: go"),
			nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "B9", facts(t, test.after, test.before))
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says)
			}
		})
	}
}

func TestB4Leftovers(t *testing.T) {
	const always = "always_run: true"
	for name, test := range map[string]struct {
		config string
		want   []string
		says   string
	}{
		"still protected": {"branch-protection: {orgs: {org: {protect: true}}}\n", nil, ""},
		"unmanaged": {"branch-protection: {orgs: {org: {protect: true, unmanaged: true}}}\n",
			[]string{"WARN config.yaml:1:28 org/app=main,master"}, "required in main: lint, unit"},
		"gone from the configuration": {"branch-protection: {orgs: {other: {protect: true}}}\n",
			[]string{"WARN config.yaml:1:1 org/app=main,master"}, "stay in force"},
		"off, although jobs are required there": {"branch-protection: {allow_disabled_job_policies: true, orgs: {org: " +
			"{protect: true, " +
			"repos: {app: {branches: {main: {protect: false}}}}}}}\n", []string{"WARN config.yaml:1:92 org/app=main"},
			"no policy"},
	} {
		t.Run(name, func(t *testing.T) {
			before := tested(unit(always))
			found, _ := run(t, "B4", facts(t, before.with("config.yaml", test.config), before))
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says)
			}
		})
	}
}

// TestB4RemovedProtection: a branch becomes unprotected with a word.
func TestB4RemovedProtection(t *testing.T) {
	before := instance{"config.yaml": "branch-protection: {orgs: {org: {repos: {app: {branches: {main: {protect: " +
		"true}}}}}}}\n"}
	after := before.with("config.yaml", replace(t, before["config.yaml"], "true", "false"))
	found, _ := run(t, "B4", facts(t, after, before))
	expect(t, found, "WARN config.yaml:1:42 org/app=main")
	expectEvidence(t, found[0], "branchprotector will remove that")
}

func TestRequiredContextsChange(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		want          []string
		says          string
	}{
		"nothing changes": {unit("always_run: true"), unit("always_run: true"), nil, ""},
		"a new job":       {"", unit("always_run: true"), []string{"INFO jobs/a.yaml:4:5 org/app=main,master"}, "+unit"},
		"a job is gone":   {unit("always_run: true"), "", []string{"INFO config.yaml:1:28 org/app=main,master"}, "-unit"},
		"conditional, and now always": {unit("run_if_changed: go"), unit("always_run: true"),
			[]string{"INFO jobs/a.yaml:4:5 org/app=main,master"}, "nothing starts it on open pull requests"},
		"optional, and now not": {unit("always_run: true, optional: true"), unit("always_run: true"),
			[]string{"INFO jobs/a.yaml:4:5 org/app=main,master"}, "nothing starts it on open pull requests"},
		"conditional jobs only": {"", unit("run_if_changed: go"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := run(t, "required-contexts", facts(t, tested(test.after), tested(test.before)))
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], test.says)
			}
		})
	}
}

const openPullRequests = `[
 {"number": 1, "url": "https://github.com/org/app/pull/1", "baseRefName": "main", "isDraft": false,
  "statusCheckRollup": [{"__typename": "StatusContext", "context": "lint", "state": "SUCCESS"}]},
 {"number": 2, "url": "https://github.com/org/app/pull/2", "baseRefName": "main", "isDraft": false,
  "statusCheckRollup": [{"__typename": "CheckRun", "name": "unit"}, {"context": "lint"}]},
 {"number": 3, "url": "https://github.com/org/app/pull/3", "baseRefName": "main", "isDraft": true,
	"statusCheckRollup": []},
 {"number": 4, "url": "https://ghe.example/org/other/pull/4", "baseRefName": "main", "statusCheckRollup": []}
]`

func TestOpenPullRequestsThatGetStuck(t *testing.T) {
	read, err := check.ParsePullRequests([]byte(openPullRequests))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"a job that ran for certain files is required": {unit("run_if_changed: go"), unit("always_run: true"),
			[]string{"WARN jobs/a.yaml:4:5 org/app"}},
		"a job that is new is started by status-reconciler": {"", unit("always_run: true"), nil},
		"nothing new is required":                           {unit("always_run: true"), unit("always_run: true"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, tested(test.after), tested(test.before))
			given.PullRequests = read
			found, _ := run(t, "open-pull-requests", given)
			expect(t, found, test.want...)
			if len(found) > 0 {
				expectEvidence(t, found[0], "1 open pull request would wait", "#1 into main lacks unit")
			}
		})
	}
}

// TestRepositoryNewToProw: nothing starts its jobs on pull requests that are open.
func TestRepositoryNewToProw(t *testing.T) {
	after := tested(unit("always_run: true"))
	given := facts(t, after, instance{"config.yaml": after["config.yaml"]})
	var err error
	if given.PullRequests, err = check.ParsePullRequests([]byte(openPullRequests)); err != nil {
		t.Fatal(err)
	}
	found, _ := run(t, "open-pull-requests", given)
	expect(t, found, "WARN jobs/a.yaml:4:5 org/app")
	expectEvidence(t, found[0], "#1 into main lacks unit")
}

func TestPullRequestsThatCannotBeRead(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON":        "number\n",
		"no list":        `{"number": 1}`,
		"without a base": `[{"number": 1, "url": "https://github.com/o/r/pull/1", "statusCheckRollup": []}]`,
		"without checks": `[{"number": 1, "url": "https://github.com/o/r/pull/1", "baseRefName": "main"}]`,
		"without an URL": `[{"number": 1, "baseRefName": "main", "statusCheckRollup": []}]`,
		"an issue":       `[{"number": 1, "url": "https://github.com/o/r/issues/1", "baseRefName": "main", "statusCheckRollup": []}]`,
		"without number": `[{"url": "https://github.com/o/r/pull/1", "baseRefName": "main", "statusCheckRollup": []}]`,
	} {
		if _, err := check.ParsePullRequests([]byte(content)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if none, err := check.ParsePullRequests([]byte("[]")); err != nil || none == nil {
		t.Errorf("no pull request is open: %v %v", none, err)
	}
}
