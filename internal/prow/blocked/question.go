package blocked

import (
	"fmt"
	"time"

	"salve/internal/prow/cluster"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// Question is what to do about one context that GitHub requires, on one head of a pull request.
type Question struct {
	// Branch is the one that requires Context.
	Branch  config.Branch
	Context string
	// Configured says that the configuration requires the context too.
	Configured bool
	// Head is the SHA that the question is about: the pull request may have another one by now.
	Head string
	// Pull is the pull request with its merge state. Reports are those on Head, Files the changed files, which are
	// needed for a conditional job alone, and nil when they were not read.
	Pull    github.PullRequest
	Reports github.HeadReports
	Files   *github.Files
	Unseen  Unseen
	// Jobs are the ProwJobs of the instance.
	Jobs *Jobs
	// Presubmits are those of the repository, by the configuration.
	Presubmits []*config.Job
	// InRepo says that the repository may have jobs which the configuration doesn't know.
	InRepo bool
	// ReportedBy names who reports the context and is no job of Presubmits; empty when nobody is known to.
	ReportedBy string
	// Pushed is when the head was there already; zero when nothing is known but what the facts above say.
	Pushed time.Time
	Now    time.Time
}

// Unseen says why a part of a question could not be read; nil where it was. Reporter is about ReportedBy.
type Unseen struct{ Pull, Reports, Reporter, Files error }

// Do is what to do.
type Do string

// The decisions. Nothing is changed but for Report and Trigger.
const (
	// Nothing means: the context is reported.
	Nothing Do = "nothing"
	// Leave means: the pull request, its author or others have to do something first.
	Leave Do = "leave"
	// Wait means: Prow is at it.
	Wait Do = "wait"
	// Report means: a job has finished, and crier has to report it again.
	Report Do = "re-report"
	// Trigger means: the job has to be started, once.
	Trigger Do = "trigger"
	// Mend means: the protection of the branch is wrong, and no job will ever report the context here.
	Mend Do = "mend-protection"
	// Unknown means: something that the decision rests on was not seen.
	Unknown Do = "unknown"
)

// Decision is what to do about a question.
type Decision struct {
	Do Do
	// Reason says why, in one sentence without a full stop.
	Reason string
	// Evidence are the facts that it rests on, one a line.
	Evidence []string
	// ProwJob is the one that is waited for, or reported again.
	ProwJob cluster.Job
	// Job is the presubmit that is started by Comment.
	Job     *config.Job
	Comment string
}

// Acts tells whether something is to be changed.
func (d Decision) Acts() bool { return d.Do == Report || d.Do == Trigger }

func decided(do Do, format string, args ...any) Decision {
	return Decision{Do: do, Reason: fmt.Sprintf(format, args...)}
}

// with adds evidence.
func (d Decision) with(evidence ...string) Decision {
	d.Evidence = append(d.Evidence, evidence...)
	return d
}

// producer is the static job that reports the context on the branch; nil when none does. A configuration with two is
// one that Prow refuses.
func (q Question) producer() *config.Job {
	for _, job := range q.Presubmits {
		if job.Context.Value == q.Context && job.RunsOn(q.Branch.Name) {
			return job
		}
	}
	return nil
}

// jobs are the ProwJobs about the context on the head, the newest first.
func (q Question) jobs() []cluster.Job {
	if q.Jobs == nil {
		return nil
	}
	return q.Jobs.of(q.Branch.Repository(), q.Pull.Number, q.Head, q.Context)
}

// Unfinished is the newest ProwJob about the context on the head that is not complete.
func (q Question) Unfinished() (cluster.Job, bool) {
	for _, job := range q.jobs() {
		if !job.Complete() {
			return job, true
		}
	}
	return cluster.Job{}, false
}

// There is the last moment before which the head was pushed: GitHub doesn't say when that was, and everything that was
// done about the head came later.
func (q Question) There() time.Time {
	earliest := q.Pushed
	sooner := func(at time.Time) {
		if !at.IsZero() && (earliest.IsZero() || at.Before(earliest)) {
			earliest = at
		}
	}
	if q.Pull.HeadSHA == q.Head {
		sooner(q.Pull.Updated)
	}
	for _, report := range q.Reports.Contexts {
		sooner(report.Updated)
	}
	if q.Jobs != nil {
		sooner(q.Jobs.first(q.Branch.Repository(), q.Pull.Number, q.Head))
	}
	if earliest.Before(q.Pull.Created) {
		return q.Pull.Created // what was said of the commit before was not about this pull request
	}
	return earliest
}

// short is how a SHA is shown.
func short(sha string) string { return sha[:min(7, len(sha))] }
