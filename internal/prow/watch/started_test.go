package watch_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/prow/stray"
)

// leaderless takes plank's Lease away.
func (w *world) leaderless() {
	w.Helper()
	w.must(w.client.CoordinationV1().Leases("prow").Delete(w.Context(), "prow-controller-manager-leader-lock",
		metav1.DeleteOptions{}))
}

// plank runs one, for some time.
func (w *world) plank(name, image string, since time.Duration, change func(*corev1.Pod)) {
	w.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: name,
		CreationTimestamp: metav1.NewTime(time.Now().Add(-since - time.Minute))},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "c",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{
				StartedAt: metav1.NewTime(time.Now().Add(-since))}}}}}}
	if change != nil {
		change(pod)
	}
	_, err := w.client.CoreV1().Pods("prow").Create(w.Context(), pod, metav1.CreateOptions{})
	w.must(err)
}

// TestARolloutWithoutALease is known by the plank that was started last.
func TestARolloutWithoutALease(t *testing.T) {
	const image = "registry.example/prow/prow-controller-manager:v1@sha256:1"
	for name, test := range map[string]struct {
		planks func(w *world)
		alarm  bool
	}{
		"one that started just before": {func(w *world) { w.plank("new", image, time.Minute, nil) }, true},
		"the newest of two counts": {func(w *world) {
			w.plank("a", image, 72*time.Hour, nil)
			w.plank("b", image, time.Minute, nil)
		}, true},
		"in whatever order they come": {func(w *world) {
			w.plank("a", image, time.Minute, nil)
			w.plank("b", image, 72*time.Hour, nil)
		}, true},
		"one that waits to be restarted began when it last ran": {func(w *world) {
			w.plank("new", image, time.Minute, func(pod *corev1.Pod) {
				status := &pod.Status.ContainerStatuses[0]
				status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{StartedAt: status.State.Running.StartedAt}
				status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
			})
		}, true},
		"one that never ran ends nothing": {func(w *world) {
			w.plank("old", image, 72*time.Hour, nil)
			w.plank("new", image, time.Minute, func(pod *corev1.Pod) {
				pod.Status.Phase = corev1.PodPending
				pod.Status.ContainerStatuses[0].State = corev1.ContainerState{
					Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
			})
		}, false},
		"another container of its pod is none": {func(w *world) {
			w.plank("old", image, 72*time.Hour, func(pod *corev1.Pod) {
				sidecar := *pod.Status.ContainerStatuses[0].DeepCopy()
				sidecar.Name, sidecar.State.Running.StartedAt = "sidecar", metav1.Now()
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, sidecar)
			})
		}, false},
		"one that has plank for an argument is none": {func(w *world) {
			w.plank("old", image, 72*time.Hour, nil)
			w.plank("new", "mirror/x", time.Minute, func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Command = []string{"/bin/tail", "/logs/plank"}
				pod.Spec.Containers[0].Args = []string{"plank", "/bin/prow-controller-manager"}
			})
		}, false},
		"one by its command": {func(w *world) {
			w.plank("new", "mirror/x", time.Minute, func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Command = []string{"/bin/prow-controller-manager"}
			})
		}, true},
		"one that has been there for days": {func(w *world) { w.plank("old", image, 72*time.Hour, nil) }, false},
		"another program is none": {func(w *world) {
			w.plank("old", image, 72*time.Hour, nil)
			w.plank("sinker", "registry.example/prow/sinker:v1", time.Minute, nil)
		}, false},
		"one that is over is none": {func(w *world) {
			w.plank("old", image, 72*time.Hour, nil)
			w.plank("over", image, time.Minute, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
		}, false},
		"the user said so": {func(w *world) { w.options.RolloutSince = time.Now().Add(-time.Minute) }, true},
		"the user said so of one long past": {func(w *world) {
			w.options.RolloutSince = time.Now().Add(-72 * time.Hour)
		}, false},
		"and what is seen is of long ago, which counts": {func(w *world) {
			w.options.RolloutSince = time.Now().Add(-time.Minute)
			w.plank("old", image, 72*time.Hour, nil)
		}, false},
		"and the Lease is of long ago, which counts": {func(w *world) {
			w.options.RolloutSince = time.Now().Add(-time.Minute)
			w.leads(72 * time.Hour)
		}, false},
		"and the Lease is of later, which counts": {func(w *world) {
			w.options.RolloutSince = time.Now().Add(-72 * time.Hour)
			w.leads(time.Minute)
		}, true},
		"what is seen later counts": {func(w *world) {
			w.options.RolloutSince = time.Now().Add(-72 * time.Hour)
			w.plank("new", image, time.Minute, nil)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				w.leaderless()
				test.planks(w)
				w.run()
				w.job("a")
				w.pod("default", "a")
				w.pass(5 * time.Second)
				if reason := w.reason(stray.Canary); reason != "" {
					t.Errorf("A2 lacks %q", reason)
				}
				told := false
				for _, change := range w.changes() {
					told = told || change == "new ALERT A2"
				}
				if told != test.alarm {
					t.Errorf("A2 is told: %t", told)
				}
			})
		})
	}
}
