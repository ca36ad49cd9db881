package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// State is what a ProwJob's status says it is in. Pending means that a pod was made, not that it runs.
type State string

// The states of ProwJobs (https://github.com/kubernetes-sigs/prow/blob/main/pkg/apis/prowjobs/v1/types.go).
const (
	Scheduling State = "scheduling"
	Triggered  State = "triggered"
	Pending    State = "pending"
	Success    State = "success"
	Failure    State = "failure"
	Aborted    State = "aborted"
	Error      State = "error"
)

func states() []string {
	return []string{
		string(Scheduling), string(Triggered), string(Pending), string(Success), string(Failure), string(Aborted),
		string(Error),
	}
}

// Type is what triggers a job.
type Type string

// The types of jobs.
const (
	Presubmit  Type = "presubmit"
	Postsubmit Type = "postsubmit"
	Periodic   Type = "periodic"
	Batch      Type = "batch"
)

func jobTypes() []string {
	return []string{string(Presubmit), string(Postsubmit), string(Periodic), string(Batch)}
}

// KubernetesAgent is the agent of the jobs that plank makes pods of; it ignores the others.
const KubernetesAgent = "kubernetes"

// DefaultCluster is the alias of the build cluster of jobs that name none.
const DefaultCluster = "default"

// Job is a ProwJob.
type Job struct {
	Namespace, Name string
	UID             types.UID
	// Created is when the API server made the object.
	Created time.Time

	Type Type
	// Agent is empty for a job that names none.
	Agent string
	// Cluster is the alias of the build cluster.
	Cluster string
	// PodNamespace is where the job declares its pod to be. plank does not read it; empty when nothing is declared.
	PodNamespace string
	// Job is the job's name in the configuration, Context that of its status on GitHub, which is empty for a job that
	// has none.
	Job, Context string
	// Report says that the result is reported.
	Report bool
	// Org, Repo, Base and Pulls are the code under test; empty for a job without any.
	Org, Repo, Base string
	Pulls           []Pull
	// Timeouts override those of the instance; zero ones don't.
	Timeouts Timeouts
	// Queue and MaxConcurrency bound how many jobs run at once; empty and 0 don't.
	Queue          string
	MaxConcurrency int64
	// ErrorOnEviction says that an evicted pod is not replaced.
	ErrorOnEviction bool

	State State
	// Started is when the job was made by its trigger's clock, PodMade when its pod was asked for, Completed when it was
	// done. Zero where the status says nothing.
	Started, PodMade, Completed time.Time
	// PodName is the same as Name once a pod was made. BuildID is another one for each pod.
	PodName, BuildID string
	// Description is the status's text for people, cut short.
	Description string
	// Revivals is how often a lost pod was replaced.
	Revivals int64
	// Reported is the state that was last reported to GitHub; empty when none was.
	Reported State
	// AskedAgain names the run of Salve that asked crier to report the job again; empty when none did.
	AskedAgain string
}

// AskedAgainAnnotation is put on a ProwJob whose result crier was asked to report again: that is done once.
const AskedAgainAnnotation = "salve/re-reported-by"

// Pull is a pull request at a moment.
type Pull struct {
	Number int64
	SHA    string
}

// Timeouts are how long plank waits for a pod to be scheduled, to start, and to end.
type Timeouts struct{ Unscheduled, Pending, Running time.Duration }

// Complete tells whether the job is done. Nothing but the time of its completion says so: an aborted job that has
// none still has a pod to be deleted.
func (j Job) Complete() bool { return !j.Completed.IsZero() }

func (j Job) String() string { return j.Namespace + "/" + j.Name }

// jobOf reads a ProwJob.
func jobOf(object *unstructured.Unstructured) (Job, error) {
	f := &fields{object: object.Object}
	job := Job{
		Namespace: intern(object.GetNamespace()), Name: object.GetName(), UID: object.GetUID(),
		Created: object.GetCreationTimestamp().Time,

		Type: Type(f.oneOf(jobTypes(), "spec", "type")), Agent: f.text("spec", "agent"),
		Cluster: f.text("spec", "cluster"), PodNamespace: f.text("spec", "namespace"),
		Job: f.text("spec", "job"), Context: f.text("spec", "context"), Report: f.flag("spec", "report"),
		Org: f.text("spec", "refs", "org"), Repo: f.text("spec", "refs", "repo"), Base: f.text("spec", "refs", "base_ref"),
		Pulls: f.pulls(),
		Timeouts: Timeouts{
			Unscheduled: f.duration("spec", "decoration_config", "pod_unscheduled_timeout"),
			Pending:     f.duration("spec", "decoration_config", "pod_pending_timeout"),
			Running:     f.duration("spec", "decoration_config", "pod_running_timeout"),
		},
		Queue: f.text("spec", "job_queue_name"), MaxConcurrency: f.number("spec", "max_concurrency"),
		ErrorOnEviction: f.flag("spec", "error_on_eviction"),

		State:   State(f.oneOf(states(), "status", "state")),
		Started: f.moment("status", "startTime"), PodMade: f.moment("status", "pendingTime"),
		Completed: f.moment("status", "completionTime"),
		PodName:   f.text("status", "pod_name"), BuildID: f.text("status", "build_id"),
		Description: f.prose("status", "description"), Revivals: f.number("status", "pod_revival_count"),
		Reported:   State(f.text("status", "prev_report_states", GitHubReporter)),
		AskedAgain: bounded(object.GetAnnotations()[AskedAgainAnnotation]),
	}
	if job.Cluster == "" {
		job.Cluster = DefaultCluster
	}
	if job.Job == "" {
		f.fail("spec.job is empty")
	}
	if job.PodName == job.Name {
		job.PodName = job.Name // one text instead of two
	}
	return job, f.err
}

// GitHubReporter is the name under which crier remembers what it told GitHub, in status.prev_report_states
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/crier/reporters/github/reporter.go).
const GitHubReporter = "github-reporter"
