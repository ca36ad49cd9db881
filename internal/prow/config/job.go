package config

import (
	"regexp"

	"salve/internal/diagnostic"
)

// JobKind is what starts a job.
type JobKind string

// The kinds of jobs: for a pull request, for a push, by the clock.
const (
	Presubmit  JobKind = "presubmit"
	Postsubmit JobKind = "postsubmit"
	Periodic   JobKind = "periodic"
)

// The agents that this package knows something about.
const (
	agentKubernetes = "kubernetes"
	agentJenkins    = "jenkins"
	agentTekton     = "tekton-pipeline"
)

// Job is one job with Prow's defaults filled in.
type Job struct {
	Kind JobKind
	Name string
	// Position is that of the job's first key.
	Position diagnostic.Position
	// Org and Repo are empty for periodics.
	Org, Repo string

	// Context is the status on GitHub: the job's name where nothing is written.
	Context Located
	// Branches and SkipBranches are regular expressions; the latter win.
	Branches, SkipBranches []string
	// AlwaysRun is false where nothing is written, except for postsubmits.
	AlwaysRun                       bool
	Optional, SkipReport            bool
	RunIfChanged, SkipIfOnlyChanged string
	RunBeforeMerge                  bool
	// Trigger is the regular expression that a comment must match; RerunCommand is a
	// comment that does.
	Trigger, RerunCommand           string
	Cron, Interval, MinimumInterval string

	// Agent runs the job: "kubernetes" is plank. Cluster is a build cluster's alias.
	Agent, Cluster string
	// Namespace is the declared one of the pods. With the kubernetes agent nothing but
	// the pod namespace of the instance is allowed.
	Namespace      Located
	MaxConcurrency int
	Queue          string
	Labels         map[string]string
	Annotations    map[string]string
	ExtraRefs      []Ref
	// Pod is nil where the job has no pod spec.
	Pod *Pod
	// Decorate says that Prow's utilities are put around the job; then Decoration is
	// what they are told, defaults merged in.
	Decorate   bool
	Decoration *Decoration

	branches, skip   *regexp.Regexp
	decorate         *bool
	alwaysRunWritten bool
	pipelineRun      bool
	errorOnEviction  bool
}

// Ref is a repository that is cloned beside the tested one.
type Ref struct{ Org, Repo, BaseRef string }

// Repository is org/repo; empty for periodics.
func (j *Job) Repository() string {
	if j.Kind == Periodic {
		return ""
	}
	if j.Repo == "" {
		return j.Org
	}
	return j.Org + "/" + j.Repo
}

// RunsOn is whether the job can run on a branch at all. All expressions of a list
// are one to Prow, joined by |, and match anywhere in the name.
func (j *Job) RunsOn(branch string) bool {
	if j.skip != nil && j.skip.MatchString(branch) {
		return false
	}
	return j.branches == nil || j.branches.MatchString(branch)
}

// Conditional says that the files of a change decide whether the job runs.
func (j *Job) Conditional() bool { return j.RunIfChanged != "" || j.SkipIfOnlyChanged != "" }

// Manual says that only a comment starts the job, or Tide. It holds with
// run_before_merge too.
func (j *Job) Manual() bool { return !j.AlwaysRun && !j.Conditional() }

// ContextRequired says that the job's status counts for a merge where it runs.
func (j *Job) ContextRequired() bool { return !j.Optional && !j.SkipReport }

// allBranches is without any list.
func (j *Job) allBranches() bool { return len(j.Branches) == 0 && len(j.SkipBranches) == 0 }

// overlaps is whether Prow holds that two jobs can run on one branch. It compares
// lists of branches as they are written, not as expressions: ["main"] and ["ma.n"]
// don't overlap for it.
func (j *Job) overlaps(other *Job) bool {
	if j.allBranches() || other.allBranches() {
		return true
	}
	if len(j.Branches) == 0 && len(other.Branches) == 0 {
		return true
	}
	if len(j.Branches) == 0 {
		j, other = other, j
	}
	for _, branch := range j.Branches {
		if len(other.Branches) == 0 && other.RunsOn(branch) {
			return true
		}
		for _, same := range other.Branches {
			if branch == same {
				return true
			}
		}
	}
	return false
}
