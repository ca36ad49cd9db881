package check

import (
	"slices"

	"salve/internal/prow/finding"
)

// SelfDeploy is a job that deploys what it needs itself.
type SelfDeploy struct {
	// Job is its name in the configuration. Needs are the components, Secrets and ConfigMaps that it both needs and
	// deploys.
	Job   string
	Needs []string
}

// SelfDeploys are the jobs that C1 is about, for who watches whether they get on. The lack is why they aren't known.
func SelfDeploys(given Facts) ([]SelfDeploy, finding.Lack) {
	f := derive(given)
	for _, need := range []need{wholeConfig, knownDeployJobs} {
		if lack := need(f); lack != nothing() {
			return nil, lack
		}
	}
	var jobs []SelfDeploy
	for _, job := range f.jobs {
		made := SelfDeploy{Job: job.Name}
		for _, need := range f.cycleOf(job) {
			if !slices.Contains(made.Needs, need.Name) {
				made.Needs = append(made.Needs, need.Name)
			}
		}
		if made.Needs != nil {
			jobs = append(jobs, made)
		}
	}
	return jobs, allManifests(f)
}
