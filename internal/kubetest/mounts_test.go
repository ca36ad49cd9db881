package kubetest_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/kubetest"
)

// TestPodsOfMountingNodesWaitForWhatTheyMount, and say so as they do on a kubelet's node. Those of other nodes and
// those whose mounts are optional do not wait.
func TestPodsOfMountingNodesWaitForWhatTheyMount(t *testing.T) {
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	mounting, others := map[string]string{"mounts": namespace}, map[string]string{"others": namespace}
	plane.MountingNodes(t, 1, mounting)
	plane.Nodes(t, 1, others)
	secret := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "late"}}
	configMap := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "later"},
	}}
	yes := true
	optional := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "never", Optional: &yes}}
	for name, made := range map[string]struct {
		nodes   map[string]string
		volumes []corev1.VolumeSource
	}{
		"waits": {mounting, []corev1.VolumeSource{secret, configMap}}, "needs-nothing": {mounting, nil},
		"optional": {mounting, []corev1.VolumeSource{optional}}, "elsewhere": {others, []corev1.VolumeSource{secret}},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{
				NodeSelector: made.nodes, Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
			},
		}
		for i, source := range made.volumes {
			volume := corev1.Volume{Name: []string{"first", "second"}[i], VolumeSource: source}
			pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
		}
		if _, err := plane.Client().CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	runs := func(name string) func(context.Context) bool {
		return func(ctx context.Context) bool {
			pod, err := plane.Client().CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
			return err == nil && pod.Status.Phase == corev1.PodRunning
		}
	}
	for _, name := range []string{"needs-nothing", "optional", "elsewhere"} {
		eventually(t, name+" runs", runs(name))
	}
	expectEvents(t, plane, namespace, `MountVolume.SetUp failed for volume "first" : secret "late" not found`,
		`MountVolume.SetUp failed for volume "second" : configmap "later" not found`)
	pod, err := plane.Client().CoreV1().Pods(namespace).Get(t.Context(), "waits", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waiting := pod.Status.ContainerStatuses[0].State.Waiting
	if pod.Status.Phase != corev1.PodPending || waiting == nil || waiting.Reason != "ContainerCreating" {
		t.Errorf("the pod that waits is %s, %+v", pod.Status.Phase, pod.Status.ContainerStatuses)
	}

	meta := metav1.ObjectMeta{Name: "late"}
	if _, err := plane.Client().CoreV1().Secrets(namespace).
		Create(t.Context(), &corev1.Secret{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if runs("waits")(t.Context()) {
		t.Error("a pod runs before all is there that it mounts")
	}
	meta.Name = "later"
	if _, err := plane.Client().CoreV1().ConfigMaps(namespace).
		Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it runs when all is there", runs("waits"))
}

func expectEvents(t *testing.T, plane *kubetest.ControlPlane, namespace string, messages ...string) {
	t.Helper()
	eventually(t, "there are events FailedMount", func(ctx context.Context) bool {
		events, err := plane.Client().CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "reason=FailedMount",
		})
		if err != nil || len(events.Items) != len(messages) {
			return false
		}
		for i := range events.Items {
			if !strings.Contains(strings.Join(messages, "\n"), events.Items[i].Message) {
				t.Errorf("event %q", events.Items[i].Message)
			}
		}
		return true
	})
}
