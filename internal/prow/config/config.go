package config

import (
	"slices"
	"strings"
	"time"

	"salve/internal/diagnostic"
)

// Config is what a Prow instance is configured to do. It is not changed after Load
// and may be shared.
type Config struct {
	// ProwJobNamespace is where ProwJobs live; PodNamespace is where their pods go, in
	// every build cluster. Both are "default" where nothing is written.
	ProwJobNamespace, PodNamespace Located
	Plank                          Plank
	// Presubmits and Postsubmits by repository, such as kubernetes/test-infra, in the
	// order in which Prow has them.
	Presubmits, Postsubmits map[string][]*Job
	Periodics               []*Job
	Presets                 []*Preset
	BranchProtection        BranchProtection
	Tide                    Tide
	// InRepo is in_repo_config.enabled: by "*", org or org/repo.
	InRepo map[string]bool
	// UnknownFields are the keys that Prow drops because it doesn't know them, in all
	// sections that this package looks into.
	UnknownFields []UnknownField

	decorateAll bool
}

// Plank is what the controller that makes pods is told.
type Plank struct {
	// Position is that of the section; the timeouts' are their own where they are set.
	Position diagnostic.Position
	// PodPendingTimeout (10m where nothing is set), PodRunningTimeout (48h) and
	// PodUnscheduledTimeout (5m) end a job whose pod doesn't get on.
	PodPendingTimeout, PodRunningTimeout, PodUnscheduledTimeout time.Duration
	// Queues are job_queue_capacities by name.
	Queues map[string]int

	decorations []decorationEntry
}

// Branch is one branch of one repository.
type Branch struct{ Org, Repo, Name string }

// Repository is org/repo.
func (b Branch) Repository() string { return b.Org + "/" + b.Repo }

// String is org/repo=branch, as branchprotector writes it.
func (b Branch) String() string { return b.Repository() + "=" + b.Name }

// Jobs are all jobs: presubmits and postsubmits by repository, then periodics.
func (c *Config) Jobs() []*Job {
	kinds, count := []map[string][]*Job{c.Presubmits, c.Postsubmits}, len(c.Periodics)
	for _, kind := range kinds {
		for _, some := range kind {
			count += len(some)
		}
	}
	jobs := make([]*Job, 0, count)
	for _, kind := range kinds {
		for _, repository := range sortedKeys(kind) {
			jobs = append(jobs, kind[repository]...)
		}
	}
	return append(jobs, c.Periodics...)
}

// PendingTimeout is after how long plank gives up a job whose pod doesn't run.
func (c *Config) PendingTimeout(job *Job) time.Duration {
	if job.Decorate && job.Decoration.PodPendingTimeout != nil {
		return *job.Decoration.PodPendingTimeout
	}
	return c.Plank.PodPendingTimeout
}

// InRepoEnabled is whether Prow reads a .prow.yaml of this repository: then it has
// jobs that this configuration doesn't know. The narrowest entry counts.
func (c *Config) InRepoEnabled(org, repo string) bool {
	for _, key := range []string{org + "/" + repo, org, "*"} {
		if enabled, ok := c.InRepo[key]; ok {
			return enabled
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// splitRepository splits org/repo; the org of a Gerrit repository is its server.
func splitRepository(repository string) (org, repo string) {
	scheme := ""
	for _, prefix := range []string{"https://", "http://"} {
		if strings.HasPrefix(repository, prefix) {
			scheme, repository = prefix, strings.TrimPrefix(repository, prefix)
			break
		}
	}
	org, repo, _ = strings.Cut(repository, "/")
	return scheme + org, repo
}
