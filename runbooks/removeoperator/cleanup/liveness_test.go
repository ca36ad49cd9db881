package cleanup

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

func podOf(namespace, name string, phase corev1.PodPhase, edit ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Status: corev1.PodStatus{Phase: phase},
	}
	for _, change := range edit {
		change(pod)
	}
	return pod
}

func onNode(pod *corev1.Pod) { pod.Spec.NodeName = "node-1" }

func deleted(pod *corev1.Pod) {
	pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{Time: time.Now()}, []string{"example.io/held"}
}

func labelled(name, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels = map[string]string{name: value} }
}

// TestPodsThatHaveNotTerminatedAreLife: ready or not. Who can't tell what a pod's containers do takes it for alive.
func TestPodsThatHaveNotTerminatedAreLife(t *testing.T) {
	const own = "operator-system"
	ready := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	for name, row := range map[string]struct {
		pod  *corev1.Pod
		want []string
	}{
		"ready": {podOf(own, "a", corev1.PodRunning, onNode, ready), []string{own + "/a (Running on node node-1)"}},
		"running, not ready": {podOf(own, "a", corev1.PodRunning, onNode),
			[]string{own + "/a (Running on node node-1)"}},
		"of no known phase": {podOf(own, "a", corev1.PodUnknown, onNode),
			[]string{own + "/a (Unknown on node node-1)"}},
		"of no phase": {podOf(own, "a", ""), []string{own + "/a (Unknown)"}},
		"pending":     {podOf(own, "a", corev1.PodPending), []string{own + "/a (Pending)"}},
		"terminating": {podOf(own, "a", corev1.PodRunning, onNode, deleted),
			[]string{own + "/a (Terminating on node node-1)"}},
		"terminating before it ran": {podOf(own, "a", corev1.PodPending, onNode, deleted),
			[]string{own + "/a (Terminating on node node-1)"}},
		"deleted before it had a node": {podOf(own, "a", corev1.PodPending, deleted), nil},
		"succeeded":                    {podOf(own, "a", corev1.PodSucceeded, onNode), nil},
		"failed":                       {podOf(own, "a", corev1.PodFailed, onNode), nil},
		"elsewhere, selected": {podOf("b", "a", corev1.PodRunning, labelled("app", "op")),
			[]string{"b/a (Running)"}},
		"elsewhere, not selected": {podOf("b", "a", corev1.PodRunning, labelled("app", "web")), nil},
		"elsewhere, of a workload that is selected": {podOf("team", "a", corev1.PodRunning, labelled("part", "agent")),
			[]string{"team/a (Running)"}},
		"of another workload of that namespace": {podOf("team", "a", corev1.PodRunning, labelled("part", "web")), nil},
		"of another namespace than the workload": {podOf("b", "a", corev1.PodRunning, labelled("part", "agent")),
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			none := int32(0)
			agent := &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "agent", UID: "1", Labels: map[string]string{"app": "op"}},
				Spec: appsv1.DeploymentSpec{
					Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"part": "agent"}},
				},
			}
			o := &Operator{
				Cluster:   &kube.Cluster{Client: fake.NewClientset(row.pod, agent), Clock: clock.Real{}},
				Namespace: own, Selectors: []string{"app=op"},
			}
			seen, err := o.Liveness(t.Context(), nil)
			if err != nil || !slices.Equal(seen.Pods, row.want) || seen.Alive() != (len(row.want) > 0) {
				t.Errorf("pods %q, alive %v (%v), want %q", seen.Pods, seen.Alive(), err, row.want)
			}
		})
	}
}

// TestPodsOfWorkloadWithReplicasAreNotNamed: they come and go, and the same operator is always the same. Others are.
func TestPodsOfWorkloadWithReplicasAreNotNamed(t *testing.T) {
	two := int32(2)
	main := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operator-system", Name: "main", UID: "1"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &two, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"part": "main"}},
		},
	}
	client := fake.NewClientset(main,
		podOf("operator-system", "a", corev1.PodRunning, labelled("part", "main")),
		podOf("operator-system", "b", corev1.PodRunning, labelled("part", "other")),
	)
	o := &Operator{Namespace: "operator-system", Cluster: &kube.Cluster{Clock: clock.Real{}, Client: client}}
	seen, err := o.Liveness(t.Context(), nil)
	if want := []string{"operator-system/b (Running)"}; err != nil || !slices.Equal(seen.Pods, want) ||
		len(seen.Workloads) != 1 {
		t.Errorf("workloads %q, pods %q (%v), want %q", seen.Workloads, seen.Pods, err, want)
	}
}

// TestWorkloadElsewhereWithoutSelectorIsUnknown: its pods can't be told from those of others.
func TestWorkloadElsewhereWithoutSelectorIsUnknown(t *testing.T) {
	none := int32(0)
	agent := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "agent", UID: "1", Labels: map[string]string{"app": "op"}},
		Spec:       appsv1.DeploymentSpec{Replicas: &none},
	}
	o := &Operator{
		Cluster:   &kube.Cluster{Client: fake.NewClientset(agent), Clock: clock.Real{}},
		Namespace: "operator-system", Selectors: []string{"app=op"},
	}
	if seen, err := o.Liveness(t.Context(), nil); err == nil {
		t.Errorf("alive %v, want an error", seen.Alive())
	}
}

// TestStoppedOperatorIsAwaitedUntilItsPodsAreGone: no longer ready is not yet gone.
func TestStoppedOperatorIsAwaitedUntilItsPodsAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(podOf("operator-system", "a", corev1.PodRunning, onNode, deleted))
		time.AfterFunc(25*time.Second, func() {
			_ = client.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "operator-system", "a")
		})
		o := &Operator{Cluster: &kube.Cluster{Client: client, Clock: clock.Real{}}, Namespace: "operator-system"}
		start := time.Now()
		err := o.AwaitStopped(t.Context(), silent{})
		if took := time.Since(start); err != nil || took < 25*time.Second || took > 31*time.Second {
			t.Errorf("stopped after %s: %v", took, err)
		}
	})
}

// silent is a run to which nothing is reported.
type silent struct{ runbook.Run }

func (silent) Report(runbook.Progress) {}
