package blocked

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/prow/cluster"
)

// Jobs are the ProwJobs of an instance, to be found by what they are about.
type Jobs struct {
	byKey map[jobKey][]cluster.Job
	// begun is when the first job for a head was made, whatever its context.
	begun map[jobKey]time.Time
	// unread is why there may be more jobs than are known; nil when there are none.
	unread error
	count  int
}

type jobKey struct {
	repository   string
	number       int64
	sha, context string
}

// NewJobs takes what was read of the namespace of ProwJobs. What could not be read there may be about any pull request.
func NewJobs(namespace string, read cluster.Reading[cluster.Job]) *Jobs {
	jobs := &Jobs{byKey: map[jobKey][]cluster.Job{}, begun: map[jobKey]time.Time{}}
	switch {
	case !read.Coverage.Sees(namespace):
		jobs.unread = fmt.Errorf("ProwJobs of namespace %s not seen: %s", namespace, read.Coverage)
	case len(read.Malformed) > 0:
		jobs.unread = fmt.Errorf("malformed ProwJob, which may be about anything: %s (%d in all)", read.Malformed[0],
			len(read.Malformed))
	}
	for _, job := range read.Objects {
		if job.Namespace == namespace {
			jobs.add(job)
		}
	}
	for _, same := range jobs.byKey {
		slices.SortStableFunc(same, func(a, b cluster.Job) int { return b.Created.Compare(a.Created) })
	}
	return jobs
}

// add keeps a job. That of a batch reports to no pull request.
func (j *Jobs) add(job cluster.Job) {
	j.count++
	if job.Type != cluster.Presubmit || len(job.Pulls) != 1 {
		return
	}
	pull := job.Pulls[0]
	key := keyOf(job.Org+"/"+job.Repo, pull.Number, pull.SHA, job.Context)
	j.byKey[key] = append(j.byKey[key], job)
	key.context = ""
	if first, found := j.begun[key]; !found || job.Created.Before(first) {
		j.begun[key] = job.Created
	}
}

func keyOf(repository string, number int64, sha, context string) jobKey {
	return jobKey{strings.ToLower(repository), number, sha, context}
}

// Len is how many ProwJobs there are, of whatever type.
func (j *Jobs) Len() int { return j.count }

// Unread is why there may be more; nil when all were read.
func (j *Jobs) Unread() error { return j.unread }

// of gives the jobs about a context on a head, the newest first.
func (j *Jobs) of(repository string, number int, sha, context string) []cluster.Job {
	return j.byKey[keyOf(repository, int64(number), sha, context)]
}

// first is when the first job for a head was made; zero when none was.
func (j *Jobs) first(repository string, number int, sha string) time.Time {
	return j.begun[keyOf(repository, int64(number), sha, "")]
}

// unreported tells whether a job is done, is to be reported, and GitHub was last told something else.
func unreported(job cluster.Job) bool {
	return job.Complete() && job.Report && job.Reported != job.State
}
