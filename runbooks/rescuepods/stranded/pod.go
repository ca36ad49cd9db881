package stranded

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/kube"
)

// Reference is an object of a pod's own namespace that the pod can't start without.
type Reference = kube.Reference

// The kinds of such objects.
const (
	Secret         = kube.Secret
	ConfigMap      = kube.ConfigMap
	ServiceAccount = kube.ServiceAccount
	Claim          = kube.Claim
)

// Pod is one reading of a pod: what runbooks ask about it, not the object.
type Pod struct {
	Namespace, Name string
	UID             types.UID
	Created         time.Time
	Labels          map[string]string
	Finalizers      []string
	// Controller makes the pod again when it is gone, such as "ReplicaSet app";
	// empty when there is none.
	Controller string
	Phase      corev1.PodPhase
	// Began is a container that has started, now or ever; empty when none has.
	Began string
	// Ended is when the API server was last told of the pod's status, by its own clock; zero while the pod is
	// Pending or Running.
	Ended    time.Time
	Deleting bool
	// Needs are what it can't start without. Only those of a pod in which nothing
	// has started are considered.
	Needs []Reference

	version string
}

func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// NamesOf are the names of pods, with their namespaces.
func NamesOf(pods []Pod) []string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.String()
	}
	return names
}

// Live tells whether the pod waits or runs, and nobody has deleted it.
func (p Pod) Live() bool {
	return !p.Deleting && (p.Phase == corev1.PodPending || p.Phase == corev1.PodRunning)
}

// Untouched tells whether the pod waits and nothing in it has ever started.
func (p Pod) Untouched() bool {
	return !p.Deleting && p.Phase == corev1.PodPending && p.Began == ""
}

// podOf reads a pod.
func podOf(pod *corev1.Pod) Pod {
	seen := Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Created: pod.CreationTimestamp.Time,
		Labels: pod.Labels, Finalizers: pod.Finalizers, Phase: pod.Status.Phase, Began: kube.ContainerStarted(pod),
		Deleting: pod.DeletionTimestamp != nil, version: pod.ResourceVersion,
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		seen.Controller = owner.Kind + " " + owner.Name
	}
	if !seen.Live() {
		seen.Ended = ended(pod)
	}
	if seen.Untouched() {
		seen.Needs = kube.PodNeeds(pod)
	}
	return seen
}

// ended is by the API server's clock, as creation timestamps are: what containers say of their end is by the clock of
// their node.
func ended(pod *corev1.Pod) (last time.Time) {
	for _, written := range pod.ManagedFields {
		if written.Subresource == "status" && written.Time != nil && written.Time.After(last) {
			last = written.Time.Time
		}
	}
	return last
}
