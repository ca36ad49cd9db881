package stray

import (
	"iter"

	"salve/internal/prow/cluster"
)

// place is where a pod is, as seen from the instance.
type place int

const (
	// foreign pods are not the instance's, as far as anybody can tell, wherever they are.
	foreign place = iota
	// home pods are the instance's where the configuration has all pods.
	home
	// astray pods are neither there nor where their ProwJob declares them to be.
	astray
	// disputed pods are where their ProwJob declares them to be, and not where the configuration has all pods: one of the
	// two is wrong.
	disputed
	// doubtful pods are named after a ProwJob, and it or what they say of it can't be read. They are not where all pods
	// belong.
	doubtful
)

// place tells where a pod is. It is one of the instance's jobs, of those that plank makes pods of, only where all
// agrees. The label alone proves nothing: people put it on pods by hand, other instances have it too, and Tekton's pods
// may be anywhere. plank gives a pod its job's name, in an annotation too, and no owner. unread are the ProwJobs that
// can't be read; what one declared when it could be still counts.
func (a *Alarm) place(pod cluster.Pod, jobs Objects[cluster.Job], unread map[string]cluster.Malformed) place {
	if pod.Owned || pod.JobName() != pod.Name || !pod.Annotated {
		return foreign
	}
	job, known := a.job(pod.Name, jobs)
	inside := pod.Namespace == a.instance.Pods
	unclear := !known && has(unread, pod.Name) || known && job.ofPlank() && pod.Job == ""
	switch {
	case unclear && !inside:
		return doubtful
	case !known || !job.ofPlank() || pod.Job != job.job:
		return foreign
	case inside:
		return home
	case job.namespace == pod.Namespace:
		return disputed
	}
	return astray
}

// job is what a ProwJob declares, or did when it was there, or could be read.
func (a *Alarm) job(name string, jobs Objects[cluster.Job]) (declared, bool) {
	if job, there := jobs.Get(a.instance.ProwJobs, name); there {
		return declaredBy(job), true
	}
	return a.memory.job(name)
}

func has(unread map[string]cluster.Malformed, name string) bool {
	_, known := unread[name]
	return known
}

// whole are pods with those of which only a part can be read: that part.
type whole struct {
	Objects[cluster.Pod]
	parts map[object]cluster.Pod
}

type object struct{ namespace, name string }

// Get is one of them.
func (w whole) Get(namespace, name string) (cluster.Pod, bool) {
	if pod, there := w.parts[object{namespace, name}]; there {
		return pod, true
	}
	return w.Objects.Get(namespace, name)
}

// All visits all of them.
func (w whole) All() iter.Seq[cluster.Pod] {
	return func(visit func(cluster.Pod) bool) {
		for pod := range w.Objects.All() {
			if !visit(pod) {
				return
			}
		}
		for _, pod := range w.parts {
			if !visit(pod) {
				return
			}
		}
	}
}

// at is the pod of a job: where all pods belong, or else where the job declares it to be.
func (s *survey) at(job cluster.Job) (cluster.Pod, bool) {
	if pod, there := s.pods.Get(s.instance.Pods, job.Name); there || job.PodNamespace == "" {
		return pod, there
	}
	pod, there := s.pods.Get(job.PodNamespace, job.Name)
	return pod, there && s.place(pod, s.view.Jobs, nil) == disputed
}
