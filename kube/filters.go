package kube

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
)

// action is what a drain does with a pod.
type action int

const (
	evictPod action = iota // request its eviction, and wait until it is deleted
	awaitPod               // wait until it is deleted, without a request
	skipPod                // leave it where it is
)

// drainFilter is one rule of a drain. The first rule that matches a pod decides.
type drainFilter struct {
	name   string
	action action
	// reason is shown for pods that stay.
	reason  string
	matches func(ctx context.Context, c *podClassifier, pod *corev1.Pod) (bool, error)
}

// drainFilters make the decisions that `kubectl drain --force --ignore-daemonsets
// --delete-emptydir-data` makes, with two differences. A pod that is being deleted
// is not asked for again. And a DaemonSet is the one with the UID in the pod's
// owner reference: another one of that name does not manage the pod
// (https://kubernetes.io/docs/reference/kubectl/generated/kubectl_drain/ and
// https://github.com/kubernetes/kubectl/blob/master/pkg/drain/filters.go).
//
// The order matters: a pod that stays is never waited for, even while it is being
// deleted, and a DaemonSet is read only for pods that no earlier rule decides.
func drainFilters() []drainFilter {
	return []drainFilter{
		{"mirror-pod", skipPod, "mirror pod of a static pod: only its kubelet can stop it", isMirrorPod},
		{"daemon-set", skipPod, "managed by a DaemonSet, which ignores cordons", isManagedByDaemonSet},
		{"being-deleted", awaitPod, "", isBeingDeleted},
		{"finished", evictPod, "", isFinished},
		{"missing-daemon-set", evictPod, "", isOwnedByDaemonSet}, // those that exist are decided above
		{"no-controller", evictPod, "", hasNoController},
		{"empty-dir", evictPod, "", hasEmptyDir},
		{"managed", evictPod, "", anyPod},
	}
}

// podClassifier applies the filters to pods. It is safe for concurrent use, and
// reads each DaemonSet once however many pods it has.
type podClassifier struct {
	cluster *Cluster
	filters []drainFilter

	mu         sync.Mutex
	daemonSets map[types.NamespacedName]*daemonSetRead
}

func newPodClassifier(c *Cluster) *podClassifier {
	return &podClassifier{
		cluster: c, filters: drainFilters(),
		daemonSets: map[types.NamespacedName]*daemonSetRead{},
	}
}

// classify gives the filter that decides about a pod. A filter that can't see what
// it has to know is an error, never a decision.
func (c *podClassifier) classify(ctx context.Context, pod *corev1.Pod) (drainFilter, error) {
	for _, filter := range c.filters {
		switch matches, err := filter.matches(ctx, c, pod); {
		case err != nil:
			return drainFilter{}, fmt.Errorf("filter %s of pod %q: %w", filter.name, podName(pod.Namespace, pod.Name), err)
		case matches:
			return filter, nil
		}
	}
	return drainFilter{}, apierr.New(apierr.Terminal, "no filter decides about pod %q", podName(pod.Namespace, pod.Name))
}

// isMirrorPod: mirror pods show static pods in the API; deleting them stops nothing
// (https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/).
func isMirrorPod(_ context.Context, _ *podClassifier, pod *corev1.Pod) (bool, error) {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror, nil
}

// isManagedByDaemonSet: the DaemonSet would replace the pod on the same node, for
// its pods tolerate cordons. A finished pod of a DaemonSet does no work.
func isManagedByDaemonSet(ctx context.Context, c *podClassifier, pod *corev1.Pod) (bool, error) {
	owner := daemonSetOf(pod)
	if owner == nil || finished(pod) {
		return false, nil
	}
	found, err := c.daemonSet(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name})
	return found != nil && found.UID == owner.UID, err
}

func isBeingDeleted(_ context.Context, _ *podClassifier, pod *corev1.Pod) (bool, error) {
	return pod.DeletionTimestamp != nil, nil
}

func isFinished(_ context.Context, _ *podClassifier, pod *corev1.Pod) (bool, error) {
	return finished(pod), nil
}

func isOwnedByDaemonSet(_ context.Context, _ *podClassifier, pod *corev1.Pod) (bool, error) {
	return daemonSetOf(pod) != nil, nil
}

// hasNoController: nothing will replace the pod elsewhere (kubectl's --force).
func hasNoController(_ context.Context, _ *podClassifier, pod *corev1.Pod) (bool, error) {
	return metav1.GetControllerOf(pod) == nil, nil
}

// hasEmptyDir: its data is deleted with the pod (kubectl's --delete-emptydir-data).
func hasEmptyDir(_ context.Context, _ *podClassifier, pod *corev1.Pod) (bool, error) {
	for _, volume := range pod.Spec.Volumes {
		if volume.EmptyDir != nil {
			return true, nil
		}
	}
	return false, nil
}

func anyPod(context.Context, *podClassifier, *corev1.Pod) (bool, error) { return true, nil }

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// daemonSetOf gives the pod's controller if that is a DaemonSet.
func daemonSetOf(pod *corev1.Pod) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "DaemonSet" || owner.APIVersion != appsv1.SchemeGroupVersion.String() {
		return nil
	}
	return owner
}

// daemonSetRead is one read that others wait for: with a channel, not sync.Once, for virtual time stands still
// while somebody waits for a mutex.
type daemonSetRead struct {
	done  chan struct{}
	found *appsv1.DaemonSet
	err   error
}

// daemonSet reads a DaemonSet once for all of its pods; nil when there is none.
// Only an answer is kept: after a failure the next caller asks again.
func (c *podClassifier) daemonSet(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	c.mu.Lock()
	read, known := c.daemonSets[key]
	if !known {
		read = &daemonSetRead{done: make(chan struct{})}
		c.daemonSets[key] = read
	}
	c.mu.Unlock()
	if known {
		select {
		case <-read.done:
			return read.found, read.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	read.found, read.err = c.readDaemonSet(ctx, key)
	if read.err != nil {
		c.mu.Lock()
		delete(c.daemonSets, key)
		c.mu.Unlock()
	}
	close(read.done)
	return read.found, read.err
}

func (c *podClassifier) readDaemonSet(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	found, err := c.cluster.Client.AppsV1().DaemonSets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case isAbsent(err, "daemonsets", key.Name):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading DaemonSet %q: %w", key, notAbsence("the DaemonSet", err))
	case found.Namespace != key.Namespace || found.Name != key.Name:
		return nil, wrongObject("DaemonSet", key.String(), podName(found.Namespace, found.Name))
	}
	return found, nil
}
