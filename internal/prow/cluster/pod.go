package cluster

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/kube"
)

// Selector selects the pods of any Prow. Its ProwJobs have the label too.
const Selector = "created-by-prow=true"

// Labels and annotations of pods (https://github.com/kubernetes-sigs/prow/blob/main/pkg/kube/prowjob.go). The name of
// the job is cut as a label, and whole as an annotation.
const (
	idLabel           = "prow.k8s.io/id"
	jobLabel          = "prow.k8s.io/job"
	typeLabel         = "prow.k8s.io/type"
	buildLabel        = "prow.k8s.io/build-id"
	plankVersionLabel = "prow.k8s.io/plank-version"
	orgLabel          = "prow.k8s.io/refs.org"
	repoLabel         = "prow.k8s.io/refs.repo"
)

// Pod is a pod with Prow's label. The label alone is weak evidence that Prow made it: people were once told to put it
// on pods by hand.
type Pod struct {
	Namespace, Name string
	UID             types.UID
	Created         time.Time
	// ID is the name of the ProwJob that the pod says it is for; empty when it says none.
	ID string
	// Job is the name of the job in the configuration, Type its type, BuildID this run of it.
	Job, Type, BuildID string
	// Annotated says that Job is of the annotation, which has it whole: Prow sets that, and people forget it.
	Annotated bool
	Org, Repo string
	// PlankVersion is the version of the plank that made the pod. Nobody else sets it.
	PlankVersion string
	Phase        corev1.PodPhase
	// Node is where it was scheduled to; empty when it was not. Started is when the kubelet there took it over.
	Node    string
	Started time.Time
	// Touched names a container that has started, now or ever; empty when none has.
	Touched string
	// Waiting is why its first waiting container waits, such as ContainerCreating; Reason why the pod is in its phase,
	// such as Evicted.
	Waiting, Reason string
	Deleting        bool
	// Owned says that something owns the pod. Nothing owns those that Prow makes.
	Owned      bool
	Finalizers []string
	// Needs are what it can't start without. Only those of a pod in which nothing has started are kept.
	Needs []kube.Reference
}

func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// JobName is the name of the ProwJob that the pod is for, as sinker finds it: by its label, or else by its own name.
func (p Pod) JobName() string {
	if p.ID != "" {
		return p.ID
	}
	return p.Name
}

// Live tells whether the pod waits or runs, and nobody has deleted it.
func (p Pod) Live() bool {
	return !p.Deleting && (p.Phase == corev1.PodPending || p.Phase == corev1.PodRunning)
}

// Bounds on what one pod makes us keep: many more than a real one has.
const (
	maxFinalizers = 20
	maxNeeds      = 200
)

// podOf reads a pod. With an error it gives what can be read all the same: whose pod it is, and where.
func podOf(pod *corev1.Pod) (Pod, error) {
	seen := Pod{
		Namespace: intern(pod.Namespace), Name: pod.Name, UID: pod.UID, Created: pod.CreationTimestamp.Time,
		ID: pod.Labels[idLabel], Type: intern(pod.Labels[typeLabel]),
		BuildID: pod.Labels[buildLabel], Org: intern(pod.Labels[orgLabel]), Repo: intern(pod.Labels[repoLabel]),
		PlankVersion: intern(pod.Labels[plankVersionLabel]),
		Node:         intern(pod.Spec.NodeName), Touched: intern(bounded(kube.ContainerStarted(pod))),
		Waiting: intern(bounded(waiting(pod))), Reason: intern(bounded(pod.Status.Reason)),
		Deleting: pod.DeletionTimestamp != nil, Owned: len(pod.OwnerReferences) > 0,
	}
	if seen.ID == seen.Name {
		seen.ID = seen.Name // one text instead of two
	}
	if pod.Status.StartTime != nil {
		seen.Started = pod.Status.StartTime.Time
	}
	return seen, cmp.Or(seen.phase(pod), seen.job(pod), seen.finalizers(pod), seen.needs(pod))
}

func (p *Pod) finalizers(pod *corev1.Pod) error {
	if len(pod.Finalizers) > maxFinalizers {
		return fmt.Errorf("it has %d finalizers, more than %d", len(pod.Finalizers), maxFinalizers)
	}
	for _, finalizer := range pod.Finalizers {
		p.Finalizers = append(p.Finalizers, intern(finalizer))
	}
	return nil
}

// job keeps the name of the job. One that is too long is no job's.
func (p *Pod) job(pod *corev1.Pod) error {
	name := jobName(pod)
	p.Annotated = pod.Annotations[jobLabel] != ""
	if len(name) > maxText {
		return fmt.Errorf("annotation %s has %d bytes, more than %d", jobLabel, len(name), maxText)
	}
	p.Job = intern(name)
	return nil
}

// needs keeps what a pod that waits can't start without.
func (p *Pod) needs(pod *corev1.Pod) error {
	if !p.Live() || p.Phase != corev1.PodPending || p.Touched != "" {
		return nil
	}
	needed := kube.PodNeeds(pod)
	if len(needed) > maxNeeds {
		return fmt.Errorf("it needs %d objects, more than %d", len(needed), maxNeeds)
	}
	for _, need := range needed {
		p.Needs = append(p.Needs, kube.Reference{
			Kind: intern(need.Kind), Name: intern(need.Name), For: intern(need.For),
		})
	}
	return nil
}

func jobName(pod *corev1.Pod) string {
	if whole := pod.Annotations[jobLabel]; whole != "" {
		return whole
	}
	return pod.Labels[jobLabel]
}

func waiting(pod *corev1.Pod) string {
	for _, status := range kube.ContainerStatuses(pod) {
		if status.State.Waiting != nil {
			return status.State.Waiting.Reason
		}
	}
	return ""
}

// phase keeps the phase, if it is one.
func (p *Pod) phase(pod *corev1.Pod) error {
	switch phase := pod.Status.Phase; phase {
	case corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown:
		p.Phase = corev1.PodPhase(intern(string(phase)))
		return nil
	}
	return fmt.Errorf("status.phase is %q", bounded(string(pod.Status.Phase)))
}
