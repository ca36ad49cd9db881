package stray

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"salve/internal/prow/cluster"
)

// survey is what one pass over a view gives.
type survey struct {
	*Alarm
	view   View
	counts Counts

	// pods are those of the view with what can be read of others. opaquePods are those of which nothing can.
	pods       Objects[cluster.Pod]
	opaquePods []cluster.Malformed
	// unread are the instance's ProwJobs that can't be read, by name.
	unread map[string]cluster.Malformed

	// pending are the jobs of plank in this cluster that wait for the end of their pod.
	pending  []cluster.Job
	declared declarations
	ended    ended
	// runs are how long the successful runs of the deploy jobs took.
	runs map[string][]time.Duration

	// found are strays, the oldest first, and so are disputed and doubtful.
	found, disputed, doubtful []cluster.Pod
	// made and madeAstray count the instance's pods that were made lately.
	made, madeAstray int
	versions         versions
	// versioned: pods that are where they belong say which plank made them.
	versioned bool
}

// survey passes over the jobs, and then over the pods.
func (a *Alarm) survey(view View) *survey {
	s := &survey{Alarm: a, view: view, runs: map[string][]time.Duration{}, versions: versions{}}
	s.sortOut()
	for job := range view.Jobs.All() {
		if job.Namespace == a.instance.ProwJobs {
			s.counts.Jobs++
			s.job(job)
		}
	}
	since := view.Now.Add(-recent)
	for pod := range s.pods.All() {
		s.counts.Pods++
		s.pod(pod, since)
	}
	all, strays := a.memory.gone(since)
	s.made, s.madeAstray = s.made+all, s.madeAstray+strays
	s.counts.Strays = len(s.found)
	for _, pods := range [][]cluster.Pod{s.found, s.disputed, s.doubtful} {
		slices.SortFunc(pods, older)
	}
	for _, jobs := range [][]cluster.Job{s.pending, s.declared.others} {
		slices.SortFunc(jobs, func(a, b cluster.Job) int {
			return cmp.Or(podMade(a).Compare(podMade(b)), strings.Compare(a.Name, b.Name))
		})
	}
	return s
}

// sortOut looks at what can't be read as a whole.
func (s *survey) sortOut() {
	s.counts.Malformed = len(s.view.MalformedPods)
	parts := map[object]cluster.Pod{}
	for _, malformed := range s.view.MalformedPods {
		if malformed.Pod == nil {
			s.opaquePods = append(s.opaquePods, malformed)
			continue
		}
		parts[object{malformed.Namespace, malformed.Name}] = *malformed.Pod
	}
	s.pods = whole{s.view.Pods, parts}
	s.unread = map[string]cluster.Malformed{}
	for _, malformed := range s.view.MalformedJobs {
		if malformed.Namespace == s.instance.ProwJobs {
			s.unread[malformed.Name] = malformed
			s.counts.Malformed++
		}
	}
}

func older(a, b cluster.Pod) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.String(), b.String()))
}

// pod takes in a pod; since is from when on it was made lately. Who may make pods where all belong makes foreign ones:
// they say nothing about plank, and dilute no share.
func (s *survey) pod(pod cluster.Pod, since time.Time) {
	lately := pod.Created.After(since)
	switch s.place(pod, s.view.Jobs, s.unread) {
	case foreign:
		return
	case doubtful:
		s.doubtful = append(s.doubtful, pod)
		return
	case disputed:
		s.disputed = append(s.disputed, pod)
		s.versions.saw(pod)
		return
	case astray:
		s.found = append(s.found, pod)
		if lately {
			s.madeAstray++
		}
	case home:
		s.versioned = s.versioned || pod.PlankVersion != ""
	}
	s.versions.saw(pod)
	if lately {
		s.made++
	}
}

func (s *survey) job(job cluster.Job) {
	if !declaredBy(job).ofPlank() {
		return
	}
	s.declared.add(job, s.instance.Pods, s.view.Now)
	if job.Cluster != s.instance.Cluster {
		return
	}
	switch {
	case job.Complete():
		s.ended.add(job, s.view.Now)
		if job.State == cluster.Success && s.deploy(job) != nil {
			s.runs[job.Job] = append(s.runs[job.Job], job.Completed.Sub(podMade(job)))
		}
	case job.State == cluster.Pending:
		s.counts.Pending++
		s.pending = append(s.pending, job)
	}
}

// deploy is the job among those that deploy what they need; nil when it is another one.
func (s *survey) deploy(job cluster.Job) *Deploy {
	for i := range s.instance.Deploys {
		if s.instance.Deploys[i].Job == job.Job {
			return &s.instance.Deploys[i]
		}
	}
	return nil
}

// podMade is when the pod of a job was asked for.
func podMade(job cluster.Job) time.Time {
	for _, at := range []time.Time{job.PodMade, job.Started} {
		if !at.IsZero() {
			return at
		}
	}
	return job.Created
}
