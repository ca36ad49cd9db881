package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubectl/pkg/drain"
)

// verdict is what kubectl's filters say of a pod.
type verdict struct {
	goes bool
	// reason is kubectl's, for a pod that stays.
	reason string
}

// filters asks kubectl's own filters about pods that were read already. kubectl
// would list the pods of a node by itself and get the DaemonSet of each pod; here
// its questions are answered from what was read, and each DaemonSet is read once.
type filters struct {
	cluster *Cluster

	mu         sync.Mutex
	daemonSets map[types.NamespacedName]func() (*appsv1.DaemonSet, error)
}

func newFilters(c *Cluster) *filters {
	return &filters{cluster: c, daemonSets: map[types.NamespacedName]func() (*appsv1.DaemonSet, error){}}
}

func (f *filters) judge(ctx context.Context, pod *corev1.Pod) (verdict, error) {
	var blind error
	helper := &drain.Helper{
		Ctx: ctx, Client: answers{f.cluster.Client, &question{filters: f, pod: pod, blind: &blind}}, Force: true, GracePeriodSeconds: -1,
		IgnoreAllDaemonSets: true, DeleteEmptyDirData: true,
	}
	list, errs := helper.GetPodsForDeletion(pod.Spec.NodeName)
	switch {
	case blind != nil:
		return verdict{}, blind
	case len(errs) > 0:
		return verdict{}, errors.Join(errs...)
	case len(list.Pods()) > 0:
		return verdict{goes: true}, nil
	}
	return verdict{reason: reasonIn(list.Warnings(), pod)}, nil
}

// reasonIn gives kubectl's reason without the pod's name. For what kubectl leaves
// without a word there is one filter only.
func reasonIn(warning string, pod *corev1.Pod) string {
	reason := strings.TrimSuffix(warning, ": "+podName(pod.Namespace, pod.Name))
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror && reason == "" {
		return "ignoring mirror Pods"
	}
	if reason == "" {
		return "ignored by kubectl's filters"
	}
	return reason
}

// daemonSet reads a DaemonSet, once for all of its pods. Only an answer is kept:
// after a failure the next one asks again.
func (f *filters) daemonSet(ctx context.Context, key types.NamespacedName) (*appsv1.DaemonSet, error) {
	f.mu.Lock()
	get, known := f.daemonSets[key]
	if !known {
		get = sync.OnceValues(func() (*appsv1.DaemonSet, error) {
			return f.cluster.Client.AppsV1().DaemonSets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
		})
		f.daemonSets[key] = get
	}
	f.mu.Unlock()
	found, err := get()
	if err != nil && !apierrors.IsNotFound(err) {
		f.mu.Lock()
		delete(f.daemonSets, key)
		f.mu.Unlock()
		return nil, fmt.Errorf("reading DaemonSet %s: %w", key, Classify(err))
	}
	return found, err
}

// question is one pod to be judged. What kept the filters from seeing goes to
// blind, because kubectl gives it back as text.
type question struct {
	filters *filters
	pod     *corev1.Pod
	blind   *error
}

// answers is the cluster's client, save that it answers the two questions of
// kubectl's filters: which pods there are (the one to be judged), and whether a
// DaemonSet exists.
type answers struct {
	kubernetes.Interface
	to *question
}

func (a answers) CoreV1() coreclient.CoreV1Interface {
	return coreAnswers{a.Interface.CoreV1(), a.to}
}

func (a answers) AppsV1() appsclient.AppsV1Interface {
	return appsAnswers{a.Interface.AppsV1(), a.to}
}

type coreAnswers struct {
	coreclient.CoreV1Interface
	to *question
}

func (a coreAnswers) Pods(namespace string) coreclient.PodInterface {
	return podAnswers{a.CoreV1Interface.Pods(namespace), a.to}
}

type podAnswers struct {
	coreclient.PodInterface
	to *question
}

func (a podAnswers) List(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
	return &corev1.PodList{Items: []corev1.Pod{*a.to.pod}}, nil
}

type appsAnswers struct {
	appsclient.AppsV1Interface
	to *question
}

func (a appsAnswers) DaemonSets(namespace string) appsclient.DaemonSetInterface {
	return daemonSetAnswers{a.AppsV1Interface.DaemonSets(namespace), a.to, namespace}
}

type daemonSetAnswers struct {
	appsclient.DaemonSetInterface
	to        *question
	namespace string
}

func (a daemonSetAnswers) Get(ctx context.Context, name string, _ metav1.GetOptions) (*appsv1.DaemonSet, error) {
	found, err := a.to.filters.daemonSet(ctx, types.NamespacedName{Namespace: a.namespace, Name: name})
	if err != nil && !apierrors.IsNotFound(err) {
		*a.to.blind = err
	}
	return found, err
}
