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

	// pending are the jobs of plank in this cluster that wait for the end of their pod.
	pending []cluster.Job
	// disagrees is the oldest job whose declared pod namespace is not the configured one: it stays the same while others
	// come.
	disagrees *cluster.Job
	ended     ended
	// runs are how long the successful runs of the deploy jobs took.
	runs map[string][]time.Duration

	// found are strays, the oldest first.
	found []cluster.Pod
	// made and madeAstray count the instance's pods that were made lately.
	made, madeAstray int
	versions         versions
}

// survey passes over the jobs, and then over the pods.
func (a *Alarm) survey(view View) *survey {
	s := &survey{Alarm: a, view: view, runs: map[string][]time.Duration{}, versions: versions{}}
	for job := range view.Jobs.All() {
		if job.Namespace == a.instance.ProwJobs {
			s.counts.Jobs++
			s.job(job)
		}
	}
	since := view.Now.Add(-recent)
	for pod := range view.Pods.All() {
		s.counts.Pods++
		astray := a.astray(pod, view.Jobs)
		if !astray && pod.Namespace != a.instance.Pods {
			continue // somebody else's
		}
		s.versions.saw(pod)
		if pod.Created.After(since) {
			s.made++
		}
		if astray {
			s.found = append(s.found, pod)
			if pod.Created.After(since) {
				s.madeAstray++
			}
		}
	}
	all, strays := a.memory.gone(since)
	s.made, s.madeAstray = s.made+all, s.madeAstray+strays
	s.counts.Strays = len(s.found)
	slices.SortFunc(s.found, older)
	slices.SortFunc(s.pending, func(a, b cluster.Job) int {
		return cmp.Or(podMade(a).Compare(podMade(b)), strings.Compare(a.Name, b.Name))
	})
	return s
}

func older(a, b cluster.Pod) int {
	return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.String(), b.String()))
}

func (s *survey) job(job cluster.Job) {
	if !declaredBy(job).ofPlank() {
		return
	}
	if disagrees := job.PodNamespace != "" && job.PodNamespace != s.instance.Pods; disagrees {
		if !job.Complete() || s.view.Now.Sub(job.Created) < recent {
			if s.disagrees == nil || cmp.Or(job.Created.Compare(s.disagrees.Created),
				strings.Compare(job.Name, s.disagrees.Name)) < 0 {
				oldest := job // its own copy: the address of the parameter would cost one for each job
				s.disagrees = &oldest
			}
		}
		return
	}
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

// astray tells whether a pod is one of the instance's jobs, of those that plank makes pods of, in another namespace
// than the job declares. The label alone proves nothing: people put it on pods by hand, other instances have it too,
// and Tekton's pods may be anywhere. plank gives a pod its job's name, in an annotation too, and no owner.
func (a *Alarm) astray(pod cluster.Pod, jobs Objects[cluster.Job]) bool {
	if pod.Namespace == a.instance.Pods || pod.Owned || pod.JobName() != pod.Name {
		return false
	}
	job, known := a.memory.job(pod.Name)
	if there, found := jobs.Get(a.instance.ProwJobs, pod.Name); found {
		job, known = declaredBy(there), true
	}
	return known && job.ofPlank() && job.namespace != pod.Namespace && pod.Annotated && pod.Job == job.job
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
