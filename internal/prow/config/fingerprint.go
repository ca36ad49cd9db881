package config

import "errors"

// Fingerprint is what a branchprotector of January 2019 or before would require on a
// branch and today's does not, under the same configuration: the contexts of
// required jobs that run only if certain files change. Found on GitHub, they say that
// an old program wrote there.
//
// It is empty where the old program wouldn't protect the branch. Where its policy
// can't be computed the error is that of Policy.
//
// The old rule was changed in https://github.com/kubernetes/test-infra/commit/7fd20640b;
// that program doesn't know skip_if_only_changed nor require_manually_triggered_jobs,
// and takes such jobs for ones that are started by hand.
func (c *Config) Fingerprint(branch Branch) (List, error) {
	levels, wrong := c.levels(branch)
	if wrong != nil {
		return nil, wrong
	}
	var required List
	for _, job := range c.Presubmits[branch.Repository()] {
		if job.RunsOn(branch.Name) && job.ContextRequired() && (job.AlwaysRun || job.RunIfChanged != "") {
			required = append(required, Item{job.Context.Value, Origin{LevelJob, job.Context.Position}})
		}
	}
	old, err := c.withJobs(branch, levels, required, false)
	if errors.Is(err, ErrNoPolicy) || err == nil && !on(old.Protect) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	today := map[string]bool{}
	policy, err := c.Policy(branch)
	if err != nil && !errors.Is(err, ErrNoPolicy) {
		return nil, err
	}
	for _, item := range policy.Contexts() {
		today[item.Value] = true
	}
	var extra List
	for _, item := range old.Contexts() {
		if !today[item.Value] {
			extra = append(extra, item)
		}
	}
	return extra, nil
}
