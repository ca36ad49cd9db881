package kubetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// MountingNodes makes nodes as Nodes does, whose kubelet starts no pod before the Secrets and ConfigMaps exist that
// the pod mounts. Until then the pod is Pending, its containers are waiting to be created, and there are events
// FailedMount as a kubelet words them. What is optional or projected is not waited for.
func (c *ControlPlane) MountingNodes(t testing.TB, n int, labels map[string]string) []string {
	t.Helper()
	names := c.nodes(t, mountingNode+name(t), n, labels)
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { c.Mount(ctx, names) })
	t.Cleanup(func() {
		stop()
		working.Wait()
	})
	return names
}

// Mount is the part of the kubelets of some mounting nodes that mounts, until ctx ends. Their names begin with
// mounting-. What it can't read or write at one moment it does at a later one.
func (c *ControlPlane) Mount(ctx context.Context, nodes []string) {
	m := &mounter{plane: c, told: map[types.UID]bool{}}
	ticker := time.NewTicker(mountEvery)
	defer ticker.Stop()
	for {
		m.there = map[string]error{}
		for _, node := range nodes {
			_ = m.node(ctx, node) // is looked at again
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// mountEvery is how often mounts are tried. A real kubelet takes longer each time, up to two minutes.
const mountEvery = 200 * time.Millisecond

// mounter lets pods start as soon as what they mount exists.
type mounter struct {
	plane *ControlPlane
	told  map[types.UID]bool // pods of which there are events
	there map[string]error   // objects that were asked for in this round; nil for those that exist
}

// node looks at the pods of a node that wait.
func (m *mounter) node(ctx context.Context, node string) error {
	pods, err := m.plane.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: "status.phase=Pending,spec.nodeName=" + node, ResourceVersion: "0",
	})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		err = errors.Join(err, m.mount(ctx, &pods.Items[i]))
	}
	return err
}

// mount lets a pod start, or says why it can't.
func (m *mounter) mount(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil || readyToStart(pod) != corev1.ConditionFalse {
		return nil
	}
	missing, err := m.missing(ctx, pod)
	if err != nil || m.told[pod.UID] && len(missing) > 0 {
		return err
	}
	if len(missing) == 0 {
		return m.ready(ctx, pod)
	}
	for _, message := range missing {
		if err := m.failedMount(ctx, pod, message); err != nil {
			return err
		}
	}
	m.told[pod.UID] = true
	return nil
}

func readyToStart(pod *corev1.Pod) corev1.ConditionStatus {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReadyToStartContainers {
			return condition.Status
		}
	}
	return ""
}

// missing are the kubelet's messages about what a pod mounts and is not there
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/volume/util/operationexecutor/operation_generator.go,
// GenerateMountVolumeFunc). err says that it is not known.
func (m *mounter) missing(ctx context.Context, pod *corev1.Pod) (messages []string, err error) {
	core := m.plane.client.CoreV1()
	for _, volume := range pod.Spec.Volumes {
		var lacks error
		switch secret, configMap := volume.Secret, volume.ConfigMap; {
		case secret != nil && (secret.Optional == nil || !*secret.Optional):
			lacks = m.ask("secret", pod.Namespace, secret.SecretName, func() error {
				_, err := core.Secrets(pod.Namespace).Get(ctx, secret.SecretName, metav1.GetOptions{})
				return err
			})
		case configMap != nil && (configMap.Optional == nil || !*configMap.Optional):
			lacks = m.ask("configmap", pod.Namespace, configMap.Name, func() error {
				_, err := core.ConfigMaps(pod.Namespace).Get(ctx, configMap.Name, metav1.GetOptions{})
				return err
			})
		}
		switch {
		case apierrors.IsNotFound(lacks):
			messages = append(messages, fmt.Sprintf("MountVolume.SetUp failed for volume %q : %s", volume.Name, lacks))
		case lacks != nil:
			return nil, lacks
		}
	}
	return messages, nil
}

// ask asks for each object once in a round. What is not found is called as a kubelet's cache calls it.
func (m *mounter) ask(kind, namespace, name string, get func() error) error {
	key := kind + "/" + namespace + "/" + name
	if _, asked := m.there[key]; !asked {
		err := get()
		if apierrors.IsNotFound(err) {
			err = apierrors.NewNotFound(schema.GroupResource{Resource: kind}, name)
		}
		m.there[key] = err
	}
	return m.there[key]
}

// ready says that everything is mounted; kwok starts the containers.
func (m *mounter) ready(ctx context.Context, pod *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status": map[string]any{"conditions": []corev1.PodCondition{{
			Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		}}},
	})
	if err != nil {
		return err
	}
	_, err = m.plane.client.CoreV1().Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone, or another pod has its name
	}
	return err
}

func (m *mounter) failedMount(ctx context.Context, pod *corev1.Pod, message string) error {
	now := metav1.Now()
	_, err := m.plane.client.CoreV1().Events(pod.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pod.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name,
			UID: pod.UID},
		Type: corev1.EventTypeWarning, Reason: "FailedMount", Message: message,
		Source:         corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil // the namespace is gone, or going
	}
	return err
}
