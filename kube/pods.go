package kube

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"salve/fault"
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
	// Ended is when the last container ended; zero while the pod is Pending or
	// Running, and when its status does not tell.
	Ended    time.Time
	Deleting bool
	// Needs are what it can't start without. Only those of a pod in which nothing
	// has started are looked at.
	Needs []Reference

	version string
}

func (p Pod) String() string { return podName(p.Namespace, p.Name) }

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

// PodOf reads a pod.
func PodOf(pod *corev1.Pod) Pod {
	seen := Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Created: pod.CreationTimestamp.Time,
		Labels: pod.Labels, Finalizers: pod.Finalizers, Phase: pod.Status.Phase, Began: began(pod),
		Deleting: pod.DeletionTimestamp != nil, version: pod.ResourceVersion,
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		seen.Controller = owner.Kind + " " + owner.Name
	}
	if !seen.Live() {
		seen.Ended = ended(pod)
	}
	if seen.Untouched() {
		seen.Needs = needsOf(pod)
	}
	return seen
}

// began names a container that has started. A pod with one that runs is Pending
// all the same while another one waits.
func began(pod *corev1.Pod) string {
	for _, status := range containerStatuses(pod) {
		past := status.LastTerminationState
		if status.State.Running != nil || status.State.Terminated != nil || past.Running != nil || past.Terminated != nil {
			return status.Name
		}
	}
	return ""
}

func ended(pod *corev1.Pod) (last time.Time) {
	for _, status := range containerStatuses(pod) {
		if past := status.State.Terminated; past != nil && past.FinishedAt.After(last) {
			last = past.FinishedAt.Time
		}
	}
	return last
}

func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	all := append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...)
	return append(all, pod.Status.ContainerStatuses...)
}

// Pods reads the pods of a namespace, of all for an empty one, that match a label
// selector.
func (c *Cluster) Pods(ctx context.Context, namespace, selector string) (pods []Pod, err error) {
	_, err = c.EachPod(ctx, namespace, selector, func() { pods = nil }, func(pod *corev1.Pod) error {
		pods = append(pods, PodOf(pod))
		return nil
	})
	return pods, err
}

// PodSelector reads a label selector, and gives it with its terms in order. One that
// only says what pods are not is refused: it selects the pods of strangers.
func PodSelector(text string) (string, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		return "", fault.New(fault.Terminal, "selector %q: %w", text, err)
	}
	wanted, _ := parsed.Requirements()
	for _, one := range wanted {
		switch one.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In, selection.Exists:
			return parsed.String(), nil
		}
	}
	return "", fault.New(fault.Terminal, "selector %q names no label that the pods have: it would select the pods of others", text)
}

// NamespaceNames finds names that no namespace can have; empty ones are passed over.
func NamespaceNames(names []string) error {
	for _, name := range names {
		if name != "" && len(validation.IsDNS1123Label(name)) > 0 {
			return fault.New(fault.Terminal, "%q is no name of a namespace", name)
		}
	}
	return nil
}

// EachPod visits the pods of a namespace, of all for an empty one, that match a
// label selector, and holds a page of them at a time. All are of one moment;
// version is that from which a watch misses nothing. begin is called before the
// first pod, and again when the list has to be begun anew: what was visited is
// void then. The error of a visit ends it.
func (c *Cluster) EachPod(ctx context.Context, namespace, selector string, begin func(), visit func(*corev1.Pod) error) (version string, _ error) {
	what := fmt.Sprintf("listing the pods (%s) of %s", selector, orAll(namespace))
	list := func(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
		return c.Client.CoreV1().Pods(namespace).List(ctx, options)
	}
	err := Afresh(func() error {
		begin()
		version = ""
		return eachPage(ctx, c, what, Scope{Namespace: namespace, Selector: selector}.options(), list, func(list *corev1.PodList) error {
			if version == "" {
				version = list.ResourceVersion
			}
			for i := range list.Items {
				if err := visit(&list.Items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return version, err
}

func orAll(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return "all namespaces"
	}
	return "namespace " + namespace
}
