package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/prow/check"
)

// TestSelfDeploys are what C1 is about, with what each job needs and deploys; and why they aren't known.
func TestSelfDeploys(t *testing.T) {
	with := func(files instance, jobs ...string) check.Facts {
		given := facts(t, files, nil)
		if jobs != nil {
			given.Options.DeployJobs = jobs
		}
		return given
	}
	without := selfDeployed()
	delete(without, "manifests/prow.yaml")
	for name, test := range map[string]struct {
		given check.Facts
		want  []check.SelfDeploy
		lack  string
	}{
		"a job that needs what it deploys": {with(selfDeployed()), []check.SelfDeploy{{Job: "deploy-prow",
			Needs: []string{"hook", "prow-controller-manager", "tide", "crier"}}}, ""},
		"a job that needs nothing of it": {with(selfDeployed().with("manifests/prow.yaml", deployment("deck", "v1"))),
			nil, ""},
		"a job that is not there": {with(selfDeployed(), "gone"), nil, `--deploy-job: no job "gone" in the configuration`},
		"no manifests":            {with(without), nil, "needs --manifests"},
	} {
		t.Run(name, func(t *testing.T) {
			got, lack := check.SelfDeploys(test.given)
			if diff := cmp.Diff(test.want, got); diff != "" || lack.Reason != test.lack {
				t.Errorf("it lacks %q: %s", lack.Reason, diff)
			}
		})
	}
}
