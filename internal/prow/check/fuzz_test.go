package check_test

import (
	"testing"
	"testing/fstest"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

// FuzzRun: whatever files hold, each rule comes to a verdict, and no finding is invalid.
func FuzzRun(f *testing.F) {
	for _, files := range []instance{healthy(), selfDeployed(), protected("run_if_changed: go"),
		tested(unit("optional: true"))} {
		jobs := ""
		for name, text := range files {
			if len(name) > 5 && name[:5] == "jobs/" {
				jobs = text
			}
		}
		f.Add(files["config.yaml"], jobs, files["manifests/prow.yaml"])
	}
	f.Fuzz(func(t *testing.T, settings, jobs, manifests string) {
		tree := fstest.MapFS{"config.yaml": {Data: []byte(settings)}, "jobs/a.yaml": {Data: []byte(jobs)},
			"manifests/a.yaml": {Data: []byte(manifests)}}
		names := config.Files{Config: "config.yaml", Jobs: "jobs"}
		before := config.Files{Config: "config.yaml"}
		set := manifest.Read(tree, "manifests", "")
		result, err := check.Run(check.Facts{Now: config.Load(tree, names), Manifests: set,
			Options:      check.Options{Now: now()},
			Base:         &check.Base{Name: "main", Config: config.Load(tree, before), Manifests: set},
			PullRequests: []check.PullRequest{{Branch: config.Branch{Org: "org", Repo: "app", Name: "main"}, Number: 1}},
			Live:         &check.Live{Cluster: "default", User: "u"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := result.Findings.Validate(); err != nil || len(result.Verdicts) != len(check.Rules()) {
			t.Fatal(err)
		}
		for _, verdict := range result.Verdicts {
			if verdict.Severity == finding.OK && verdict.Reason != "" {
				t.Fatalf("%+v", verdict)
			}
		}
	})
}

// TestDeployJobsOfOneName: two on two branches are one finding.
func TestDeployJobsOfOneName(t *testing.T) {
	files := selfDeployed()
	job := "  - {name: deploy-prow, branches: [other], run_if_changed: ^manifests/, spec: " + pod + "}\n"
	files["jobs/infra.yaml"] += job
	found, _ := run(t, "C1", facts(t, files, nil))
	expect(t, found, "ALERT jobs/infra.yaml:6:5 org/infra job=deploy-prow")
}
