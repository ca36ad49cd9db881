package config

// Producer is a job that reports a context.
type Producer struct {
	Context string
	Job     *Job
}

// Requirements are the contexts of a branch's static presubmits, in the buckets of
// Prow (BranchRequirements in pkg/config/branch_protection.go). Only those required
// go to GitHub; those required if present matter to Tide alone.
type Requirements struct {
	// Required contexts are there on each pull request: the job always runs, or is
	// started by a comment only and the policy requires those too.
	Required []Producer
	// RequiredIfPresent contexts must be green where they are: the changed files, or a
	// comment, decide whether the job runs.
	RequiredIfPresent []Producer
	// Optional contexts don't count: the job is optional, or doesn't report.
	Optional []Producer
}

// Requirements are those of a branch. Manual is the policy's
// require_manually_triggered_jobs.
func (c *Config) Requirements(branch Branch, manual bool) Requirements {
	var req Requirements
	for _, job := range c.Presubmits[branch.Repository()] {
		if !job.RunsOn(branch.Name) {
			continue
		}
		producer := Producer{job.Context.Value, job}
		switch {
		case !job.ContextRequired():
			req.Optional = append(req.Optional, producer)
		case job.Conditional(), job.Manual() && !manual:
			req.RequiredIfPresent = append(req.RequiredIfPresent, producer)
		default:
			req.Required = append(req.Required, producer)
		}
	}
	return req
}

// Producers are the presubmits of a repository with a context, whatever branches
// they run on.
func (c *Config) Producers(org, repo, context string) []*Job {
	var jobs []*Job
	for _, job := range c.Presubmits[org+"/"+repo] {
		if job.Context.Value == context {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// contextsOf are contexts as a list of a policy, each with its job's place.
func contextsOf(producers []Producer) List {
	var list List
	for _, producer := range producers {
		list = append(list, Item{producer.Context, Origin{LevelJob, producer.Job.Context.Position}})
	}
	return list
}
