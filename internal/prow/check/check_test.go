package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

// now is the time of all checks here.
func now() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }

// instance is a Prow's files: config.yaml, jobs in jobs/, manifests in manifests/.
type instance map[string]string

// with is the instance with other files.
func (i instance) with(files ...string) instance {
	changed := instance{}
	for name, content := range i {
		changed[name] = content
	}
	for pair := range slices.Chunk(files, 2) {
		changed[pair[0]] = pair[1]
	}
	return changed
}

func (i instance) read(t *testing.T) (config.Loaded, *manifest.Set) {
	t.Helper()
	tree := fstest.MapFS{}
	names := config.Files{Config: "config.yaml"}
	deployed := false
	for name, content := range i {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
		if strings.HasPrefix(name, "jobs/") {
			names.Jobs = "jobs"
		}
		deployed = deployed || strings.HasPrefix(name, "manifests/")
	}
	loaded := config.Load(tree, names)
	if !deployed {
		return loaded, nil
	}
	return loaded, manifest.Read(tree, "manifests", "")
}

// facts are those of an instance, with base before the change where it is not nil.
func facts(t *testing.T, after, base instance) check.Facts {
	t.Helper()
	read := check.Facts{Options: check.Options{Now: now(), MaximumAge: 180 * 24 * time.Hour}}
	read.Now, read.Manifests = after.read(t)
	if base != nil {
		read.Base = &check.Base{Name: "main"}
		read.Base.Config, read.Base.Manifests = base.read(t)
	}
	return read
}

// run gives the findings of one rule and its verdict. The files must be ones that Prow
// takes, unless the rule is about that.
func run(t *testing.T, rule string, given check.Facts) (finding.List, finding.Verdict) {
	t.Helper()
	if !strings.HasPrefix(rule, "prow-") {
		if _, err := given.Now.Config(); err != nil && !given.Now.Incomplete() {
			t.Fatalf("the files of the test: %v", err)
		}
	}
	result, err := check.Run(given)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(result.Verdicts, func(v finding.Verdict) bool { return v.Rule == rule })
	if at < 0 {
		t.Fatalf("no rule %s", rule)
	}
	found := slices.DeleteFunc(result.Findings, func(f finding.Finding) bool { return f.Rule != rule })
	return found, result.Verdicts[at]
}

// short is a finding as tests name it.
func short(f finding.Finding) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", f.Severity, f.Position, f.Subject)), " ")
}

func expect(t *testing.T, found finding.List, want ...string) {
	t.Helper()
	var got []string
	for _, f := range found {
		got = append(got, short(f))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s", diff)
		for _, f := range found {
			t.Logf("%s\n  %s\n  mend: %s", f.Message, strings.Join(f.Evidence, "\n  "), f.Mend)
		}
	}
}

func expectVerdict(t *testing.T, got finding.Verdict, severity finding.Severity, reason string) {
	t.Helper()
	if got.Severity != severity || !strings.Contains(got.Reason, reason) || reason == "" && got.Reason != "" {
		t.Errorf("rule %s: %s because of %q, want %s because of %q", got.Rule, got.Severity, got.Reason, severity, reason)
	}
}

func expectEvidence(t *testing.T, f finding.Finding, texts ...string) {
	t.Helper()
	all := f.Message + "\n" + strings.Join(f.Evidence, "\n") + "\n" + f.Mend
	for _, text := range texts {
		if !strings.Contains(all, text) {
			t.Errorf("%q is not in:\n%s", text, all)
		}
	}
}

// pod is a spec that Prow takes.
const pod = "{containers: [{image: golang, command: [make]}]}"

// TestRulesAreWellKept: IDs are unique, texts are there.
func TestRulesAreWellKept(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range check.Rules() {
		if rule.ID == "" || rule.Says == "" || rule.Why == "" || seen[rule.ID] {
			t.Errorf("%+v", rule)
		}
		seen[rule.ID] = true
	}
	if len(check.Diagnostics()) != len(seen) || len(seen) < 15 {
		t.Errorf("%d rules", len(seen))
	}
}

// healthy is an instance in which nothing is wrong, and which has a bit of everything.
func healthy() instance {
	return instance{
		"config.yaml": `prowjob_namespace: prow
pod_namespace: test-pods
branch-protection:
  allow_disabled_policies: true
  orgs:
    org:
      protect: true
      required_status_checks: {contexts: [tide, cla/linux]}
      exclude: [^dependabot/]
      repos:
        app: {branches: {gh-pages: {protect: false}}}
        docs: {branches: {old: {unmanaged: true}}, restrictions: {users: [], teams: []}}
tide:
  queries: [{orgs: [org], labels: [lgtm]}]
`,
		"jobs/app.yaml": `presubmits:
  org/app:
  - {name: unit, always_run: true, skip_branches: [gh-pages], spec: ` + pod + `}
  - {name: lint, run_if_changed: go, spec: ` + pod + `}
  - {name: e2e, always_run: true, branches: [^release-1\.2$], optional: true, spec: ` + pod + `}
postsubmits:
  org/app:
  - {name: push, spec: ` + pod + `}
periodics:
- {name: nightly, interval: 24h, spec: ` + pod + `}
`,
		"manifests/prow.yaml": deployment("hook", "v2") + deployment("sinker", "v2") +
			deployment("prow-controller-manager", "v2") + deployment("branchprotector", "v2"),
	}
}

// deployment is the manifest of one component.
func deployment(name, tag string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `, namespace: prow}
spec:
  template:
    spec:
      containers:
      - name: ` + name + `
        image: registry/prow/` + name + `:` + tag + `
        args: [--config-path=/etc/config/config.yaml]
        volumeMounts: [{name: config, mountPath: /etc/config}]
      volumes: [{name: config, configMap: {name: config}}]
---
`
}

// TestHealthyInstanceIsQuiet: no rule says a word, with a base and without.
func TestHealthyInstanceIsQuiet(t *testing.T) {
	given := facts(t, healthy(), healthy())
	given.Options.DeployJobs = []string{}
	given.Options.External = []check.Pattern{{Text: "cla/*"}}
	given.PullRequests = []check.PullRequest{}
	given.Live = &check.Live{Cluster: "default", User: "plank", Reviews: map[string]check.Review{
		"test-pods": {Allowed: true}, "default": {}}}
	given.GitHub = asConfigured(t, given, "org/app=main", "org/app=gh-pages", "org/docs=main", "org/docs=old")
	given.Protector = &check.Protector{}
	given.History = &check.History{Since: now().Add(-48 * time.Hour)}
	result, err := check.Run(given)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, result.Findings)
	for _, verdict := range result.Verdicts {
		expectVerdict(t, verdict, finding.OK, "")
	}
}

// TestWhatIsNotGivenIsUnknown: a rule without its input is never OK, and says what it
// needs.
func TestWhatIsNotGivenIsUnknown(t *testing.T) {
	given := facts(t, instance{"config.yaml": healthy()["config.yaml"]}, nil)
	given.Options.External = []check.Pattern{{Text: "cla/*"}}
	result, err := check.Run(given)
	if err != nil {
		t.Fatal(err)
	}
	for _, verdict := range result.Verdicts {
		needs := map[string]string{"P4": "needs --manifests; needs --base", "B2": "needs --live --github",
			"B3": "needs --live --github", "B5": "needs --live --github", "B6": "needs --live --github",
			"B4": "needs --base; needs --live --github", "B7": "needs salve prow watch",
			"B8": "needs --manifests", "B9": "needs --base", "required-contexts": "needs --base",
			"open-pull-requests":  "needs --base",
			"manifest-unreadable": "needs --manifests",
			"P2":                  "needs --live", "P3": "needs --live", "C1": "needs --manifests", "C2": "needs --manifests",
			"C3": "needs --manifests", "C4": "needs --manifests"}[verdict.Rule]
		severity := finding.OK
		if needs != "" {
			severity = finding.Unknown
		}
		expectVerdict(t, verdict, severity, needs)
		if verdict.NotGiven != (needs != "") {
			t.Errorf("%+v", verdict)
		}
	}
}

// TestUnreadableFilesMakeRulesUnknown: nothing is concluded from half a configuration.
func TestUnreadableFilesMakeRulesUnknown(t *testing.T) {
	broken := healthy().with("jobs/broken.yaml", "presubmits: [\n")
	for name, given := range map[string]check.Facts{
		"now":  facts(t, broken, healthy()),
		"base": facts(t, healthy(), broken),
	} {
		t.Run(name, func(t *testing.T) {
			result, err := check.Run(given)
			if err != nil {
				t.Fatal(err)
			}
			for _, verdict := range result.Verdicts {
				ofNow := []string{"policy-error", "context-conflict", "P1", "P4", "B1", "B2", "B3", "B4", "B7", "B8", "B9",
					"required-contexts", "open-pull-requests", "C1", "C2", "C3", "C4"}
				ofBase := []string{"P4", "B4", "B9", "required-contexts", "open-pull-requests"}
				want := map[string][]string{"now": ofNow, "base": ofBase}[name]
				if slices.Contains(want, verdict.Rule) {
					if verdict.Severity != finding.Unknown || verdict.NotGiven || verdict.Reason == "" {
						t.Errorf("%+v", verdict)
					}
				}
			}
		})
	}
	found, _ := run(t, config.RuleUnreadable, facts(t, broken, nil))
	if len(found) != 1 || found[0].Severity != finding.Alert || found[0].Position.File != "jobs/broken.yaml" {
		t.Errorf("%+v", found)
	}
}
