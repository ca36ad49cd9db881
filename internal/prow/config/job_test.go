package config_test

import (
	"strings"
	"testing"
	"time"

	"salve/internal/prow/config"
)

func TestJobsHaveProwsDefaults(t *testing.T) {
	c := sound(t, files{"config.yaml": "pod_namespace: test-pods\n", "jobs/a.yaml": job("unit") +
		"postsubmits:\n  org/repo:\n" + jobItem("push") + jobItem("push-some", "run_if_changed: x") +
		"periodics:\n" + jobItem("nightly", "interval: 1h")})
	unit := c.Presubmits["org/repo"][0]
	if unit.Context.Value != "unit" || unit.RerunCommand != "/test unit" || unit.Agent != "kubernetes" ||
		unit.Cluster != "default" || unit.Namespace.Value != "test-pods" || unit.AlwaysRun || unit.Org != "org" ||
		unit.Repo != "repo" {
		t.Errorf("%+v", unit)
	}
	if push := c.Postsubmits["org/repo"]; !push[0].AlwaysRun || push[1].AlwaysRun || push[0].Context.Value != "push" {
		t.Errorf("%+v", push)
	}
	if nightly := c.Periodics[0]; nightly.Repository() != "" || nightly.Context.Value != "" ||
		nightly.Kind != config.Periodic {
		t.Errorf("%+v", nightly)
	}
	if jobs := c.Jobs(); len(jobs) != 4 {
		t.Errorf("%d jobs", len(jobs))
	}
	for comment, want := range map[string]bool{"/test unit": true, "/test e2e unit": true, "/test unity": false,
		"please /test unit": false, "first\n/test unit\nlast": true} {
		if got, err := unit.TriggeredBy(comment); err != nil || got != want {
			t.Errorf("%q: %v, %v", comment, got, err)
		}
	}
}

// TestBranchesOfAJob: expressions match anywhere in the name, are one expression
// together, and skip_branches wins.
func TestBranchesOfAJob(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		on    string
		off   string
	}{
		"no list is every branch":             {nil, "main release-1.0", ""},
		"branches match anywhere":             {[]string{"branches: [main]"}, "main maintenance not-main", "release-1.0"},
		"anchors do what they say":            {[]string{"branches: ['^main$']"}, "main", "maintenance"},
		"a dot is any character":              {[]string{"branches: [release-1.0]"}, "release-1.0 release-110", "main"},
		"several are one":                     {[]string{"branches: [aa, bb]"}, "aa bb xbbx", "c"},
		"skip alone is all but those":         {[]string{"skip_branches: ['release-.*']"}, "main", "release-1.0"},
		"skip wins":                           {[]string{"branches: ['.*']", "skip_branches: ['^main$']"}, "maintenance", "main"},
		"a flag holds for what comes after":   {[]string{"branches: ['(?i)MAIN', DEV]"}, "main dev", "x"},
		"an empty list is no list":            {[]string{"branches: []"}, "main", ""},
		"an expression that is empty is all":  {[]string{`branches: [""]`}, "main x", ""},
		"a group may span two entries' joint": {[]string{`branches: ["(a", "b)c"]`}, "ac bc", "a b"},
	} {
		job := sound(t, files{"config.yaml": job("unit", c.lines...)}).Presubmits["org/repo"][0]
		for _, branch := range strings.Fields(c.on) {
			if !job.RunsOn(branch) {
				t.Errorf("%s: doesn't run on %s", name, branch)
			}
		}
		for _, branch := range strings.Fields(c.off) {
			if job.RunsOn(branch) {
				t.Errorf("%s: runs on %s", name, branch)
			}
		}
	}
}

// TestWhatProwRefuses is refused with the job's place, and the file is read whole.
func TestWhatProwRefuses(t *testing.T) {
	pod := "    spec: {containers: [{image: a, command: [b]}]}\n"
	for name, text := range map[string]string{
		"no name":                          "presubmits:\n  o/r:\n  - always_run: true\n" + pod,
		"a name with a space":              job("a b"),
		"always_run with run_if_changed":   job("a", "always_run: true", "run_if_changed: x"),
		"always_run with skip_if_only":     job("a", "always_run: true", "skip_if_only_changed: x"),
		"both regexes of files":            job("a", "run_if_changed: x", "skip_if_only_changed: x"),
		"one context twice":                job("a", "context: x") + jobItem("b", "context: x"),
		"one job twice":                    job("a") + jobItem("a", "branches: [main]"),
		"trigger without command":          job("a", "trigger: x"),
		"command without trigger":          job("a", "rerun_command: x"),
		"a trigger that does not match":    job("a", "trigger: '^x$'", "rerun_command: z"),
		"no expression in branches":        job("a", "branches: ['(']"),
		"no expression in run_if_changed":  job("a", "run_if_changed: '('"),
		"namespace of a kubernetes job":    job("a", "namespace: elsewhere"),
		"negative max_concurrency":         job("a", "max_concurrency: -1"),
		"spec with another agent":          job("a", "agent: tekton-pipeline"),
		"no spec":                          "presubmits:\n  o/r:\n  - name: a\n",
		"tekton without pipeline":          "presubmits:\n  o/r:\n  - {name: a, agent: tekton-pipeline}\n",
		"jenkins with error_on_eviction":   "presubmits:\n  o/r:\n  - {name: a, agent: jenkins, error_on_eviction: true}\n",
		"unknown queue":                    job("a", "job_queue_name: x"),
		"reserved label":                   job("a", "labels: {created-by-prow: 'true'}"),
		"invalid label":                    job("a", "labels: {'-': x}"),
		"invalid label value":              job("a", "labels: {a: 'x y'}"),
		"invalid annotation":               job("a", "annotations: {'a b': x}"),
		"gerrit label without report":      job("a", "skip_report: true", "labels: {prow.k8s.io/gerrit-report-label: x}"),
		"decoration without images":        job("a", "decorate: true"),
		"init containers":                  "presubmits:\n  o/r:\n  - {name: a, spec: {initContainers: [{image: b}], containers: [{image: b}]}}\n",
		"no container":                     "presubmits:\n  o/r:\n  - {name: a, spec: {containers: []}}\n",
		"two containers, not decorated":    "presubmits:\n  o/r:\n  - {name: a, spec: {containers: [{image: b}, {image: b}]}}\n",
		"one variable twice":               "presubmits:\n  o/r:\n  - {name: a, spec: {containers: [{env: [{name: A}, {name: A}]}]}}\n",
		"reserved variable":                "presubmits:\n  o/r:\n  - {name: a, spec: {containers: [{env: [{name: PULL_NUMBER}]}]}}\n",
		"mount of no volume":               "presubmits:\n  o/r:\n  - {name: a, spec: {containers: [{volumeMounts: [{name: v}]}]}}\n",
		"mount over the code":              "presubmits:\n  o/r:\n  - {name: a, spec: {volumes: [{name: v}], containers: [{volumeMounts: [{name: v, mountPath: /tools}]}]}}\n",
		"one volume twice":                 "presubmits:\n  o/r:\n  - {name: a, spec: {volumes: [{name: v}, {name: v}], containers: [{}]}}\n",
		"reserved volume":                  "presubmits:\n  o/r:\n  - {name: a, spec: {volumes: [{name: logs}], containers: [{}]}}\n",
		"periodic without interval":        "periodics:\n" + jobItem("a"),
		"periodic with cron and interval":  "periodics:\n" + jobItem("a", "cron: '@daily'", "interval: 1h"),
		"periodic with no duration":        "periodics:\n" + jobItem("a", "interval: daily"),
		"one periodic twice":               "periodics:\n" + jobItem("a", "interval: 1h") + jobItem("a", "interval: 1h"),
		"one label of two presets":         "presets:\n- labels: {a: b}\n- labels: {a: b}\n",
		"a preset's variable is there":     "presets:\n- {labels: {a: b}, env: [{name: X}]}\npresubmits:\n  o/r:\n  - {name: a, labels: {a: b}, spec: {containers: [{env: [{name: X}]}]}}\n",
		"include and exclude at the top":   "branch-protection: {include: [a], exclude: [b]}\n",
		"two forms of default decoration":  "plank: {default_decoration_configs: {'*': {}}, default_decoration_config_entries: [{config: {}}]}\n",
		"a query of nothing":               "tide: {queries: [{labels: [a]}]}\n",
		"a query of a repo of its org":     "tide: {queries: [{orgs: [a], repos: [a/b]}]}\n",
		"a query that excludes nothing":    "tide: {queries: [{orgs: [a], excludedRepos: [b/c]}]}\n",
		"a query with a label on and off":  "tide: {queries: [{orgs: [a], labels: [x], missingLabels: [x]}]}\n",
		"a query with a repo without org":  "tide: {queries: [{repos: [a]}]}\n",
		"a query with an org with a slash": "tide: {queries: [{orgs: [a/b]}]}\n",
		"a query with both kinds of branch": "tide: {queries: [{orgs: [a], includedBranches: [x], " +
			"excludedBranches: [z]}]}\n",
		"a query with an org twice": "tide: {queries: [{orgs: [a, a]}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			loaded := files{"config.yaml": text}.load()
			if _, err := loaded.Config(); err == nil || loaded.Incomplete() || !loaded.Refused() {
				t.Errorf("%v", loaded.Diagnostics)
			}
			for _, d := range loaded.Diagnostics {
				if d.Rule != config.RuleRefused || d.Position.File == "" {
					t.Errorf("%v", d)
				}
			}
		})
	}
}

func TestWhatProwTakes(t *testing.T) {
	for name, text := range map[string]string{
		"one context on other branches": job("a", "context: x", "branches: [main]") +
			jobItem("b", "context: x", "branches: [release]"),
		"one job on other branches":        job("a", "branches: [main]") + jobItem("a", "branches: [release]"),
		"one job, branches and skipped":    job("a", "branches: [main]") + jobItem("a", "skip_branches: [main]"),
		"expressions that overlap unseen":  job("a", "branches: [main]") + jobItem("a", "branches: [ma.n]"),
		"tekton in another namespace":      "presubmits:\n  o/r:\n  - {name: a, agent: tekton-pipeline, namespace: x, pipeline_run_spec: {}}\n",
		"the pod namespace, written out":   "pod_namespace: p\n" + job("a", "namespace: p"),
		"an agent that Prow doesn't know":  "presubmits:\n  o/r:\n  - {name: a, agent: mine}\n",
		"postsubmit, always_run left open": "postsubmits:\n  o/r:\n" + jobItem("a", "run_if_changed: x"),
		"a queue that is declared":         "plank: {job_queue_capacities: {q: 1}}\n" + job("a", "job_queue_name: q"),
		"labels with a prefix":             job("a", "labels: {x.example.com/a-b: c.d, empty: ''}"),
		"an empty configuration":           "",
		"a comment":                        "# nothing\n",
	} {
		if loaded := (files{"config.yaml": text}).load(); loaded.Refused() {
			t.Errorf("%s: %v", name, loaded.Diagnostics)
		}
	}
}

func TestTimeoutsOfPlank(t *testing.T) {
	c := sound(t, files{"config.yaml": "plank:\n  pod_pending_timeout: 60m\n"})
	if p := c.Plank; p.PodPendingTimeout != time.Hour || p.PodRunningTimeout != 48*time.Hour ||
		p.PodUnscheduledTimeout != 5*time.Minute || p.Position.Line != 1 {
		t.Errorf("%+v", p)
	}
	for name, text := range map[string]string{"60m": job("a"), "3m": job("a", "decorate: true", "decoration_config: {"+
		utilities+", pod_pending_timeout: 3m}")} {
		c := sound(t, files{"config.yaml": "plank:\n  pod_pending_timeout: 60m\n" + text})
		if want, err := time.ParseDuration(name); err != nil || c.PendingTimeout(c.Jobs()[0]) != want {
			t.Errorf("%v, want %s", c.PendingTimeout(c.Jobs()[0]), name)
		}
	}
}
