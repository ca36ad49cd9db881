package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/internal/permit"

	"github.com/google/go-cmp/cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/kubetest"
	"salve/kube"
	"salve/runbook"
)

// TestDrainTakesWhatKubectlWouldTake compares with the real kubectl as well.
func TestDrainTakesWhatKubectlWouldTake(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 1)
	s.daemonSet("agent")
	s.pods(0, "alone", "unmanaged")
	s.pod(0, "cache", "with-empty-dir", func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "scratch",
			VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	})
	s.pod(0, "static", "mirror", func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "of-a-file"}
	})
	s.pod(0, "agent", "orphan-of-a-daemon-set", func(pod *corev1.Pod) {
		controller := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "no-more", UID: "gone",
			Controller: &controller}}
	})
	s.pods(0, "job", "finished")
	_, err := s.client.CoreV1().Pods(s.namespace).Patch(s.Context(), "finished", types.MergePatchType,
		[]byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
	s.must(err)

	theirs := s.kubectlWouldEvict()
	ours, err := s.cluster.PodsToEvict(s.Context(), nodes(t, s.cluster, s.selector), nil)
	s.must(err)
	if difference := cmp.Diff(theirs, ours); difference != "" {
		t.Errorf("pods to evict (-kubectl +ours):\n%s", difference)
	}
	drained, err := s.drain(kube.DrainOptions{})
	s.must(err)
	gone := s.named("finished", "unmanaged", "with-empty-dir")
	if left := slices.DeleteFunc(slices.Clone(drained.Evicted),
		func(pod string) bool { return strings.HasSuffix(pod, "orphan-of-a-daemon-set") }); !slices.Equal(left, gone) {
		t.Errorf("evicted %v, want %v", left, gone)
	}
	reasons := map[string]string{}
	for _, skipped := range drained.Skipped {
		reasons[skipped.Reason] += " " + skipped.Pod
	}
	if len(reasons) != 2 || !strings.Contains(reasons["managed by a DaemonSet, which ignores cordons"], "agent") ||
		!strings.Contains(reasons["mirror pod of a static pod: only its kubelet can stop it"], "mirror") {
		t.Errorf("skipped %v", drained.Skipped)
	}
	if !drained.Complete() {
		t.Errorf("left %v", drained.Remaining)
	}
}

// kubectlWouldEvict names the pods of the site's first node that kubectl would evict.
func (s *site) kubectlWouldEvict() []string {
	s.Helper()
	command := exec.CommandContext(s.Context(), s.plane.Program("kubectl"), "--kubeconfig", s.plane.Kubeconfig(),
		"drain", s.names[0],
		"--dry-run=client", "--ignore-daemonsets", "--delete-emptydir-data", "--force")
	said, err := command.CombinedOutput()
	if err != nil {
		s.Fatalf("kubectl drain: %v\n%s", err, said)
	}
	var pods []string
	for _, line := range strings.Split(string(said), "\n") {
		if pod, ok := strings.CutPrefix(line, "evicting pod "); ok {
			pods = append(pods, strings.TrimSuffix(pod, " (dry run)"))
		}
	}
	if len(pods) == 0 {
		s.Fatalf("kubectl would evict none:\n%s", said)
	}
	slices.Sort(pods)
	return pods
}

// daemonSet makes a DaemonSet and waits until its pods run.
func (s *site) daemonSet(app string) {
	labels := map[string]string{"app": app}
	spec := podSpec()
	spec.NodeSelector = map[string]string{"site": s.namespace}
	_, err := s.client.AppsV1().DaemonSets(s.namespace).Create(s.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually(app+" runs", func() bool {
		seen, err := s.client.AppsV1().DaemonSets(s.namespace).Get(s.Context(), app, metav1.GetOptions{})
		return err == nil && int(seen.Status.NumberReady) == len(s.names)
	})
}

// TestAPodOfTheSameNameIsNotTheOneThatWasMeant: between reading and evicting the
// pod is replaced by another one of its name, as a StatefulSet does.
func TestAPodOfTheSameNameIsNotTheOneThatWasMeant(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 1)
	s.pods(0, "db", "db-0")
	s.pods(0, "later", "later") // it keeps the drain from being over when the old db-0 is gone
	replace := sync.OnceFunc(func() { s.replace("db-0") })
	s.evictions(func(string) *http.Response {
		replace()
		return nil
	})
	drained, err := s.drain(kube.DrainOptions{Deadline: 2 * patience, Parallel: 1})
	s.must(err)
	if !slices.Equal(drained.Evicted, s.named("db-0", "later")) || !drained.Complete() {
		t.Errorf("%+v", drained)
	}
	if !s.there(s.Context(), "db-0") {
		t.Error("the new db-0 was evicted")
	}
}

// replace puts another running pod in the place of one. It may be called from any
// goroutine. kwok, which deletes by name, may take the new pod for the old one: then
// it is made once more.
func (s *site) replace(name string) {
	pods, now := s.client.CoreV1().Pods(s.namespace), int64(0)
	old, err := pods.Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Error(err)
		return
	}
	if err := pods.Delete(s.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		s.Error(err)
	}
	fresh := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: old.Labels}, Spec: podSpec()}
	fresh.Spec.NodeName = old.Spec.NodeName
	for limit := time.Now().Add(patience / 2); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		seen, err := pods.Get(s.Context(), name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			_, err = pods.Create(s.Context(), fresh, metav1.CreateOptions{})
		case err == nil && isReady(seen) && seen.UID != old.UID:
			return
		}
		if err != nil {
			s.Error(err)
		}
	}
	s.Errorf("the new %s never ran", name)
}

func TestANodeWithoutANameIsNotEveryPodThatRunsNowhere(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 1)
	s.pod(0, "pending", "pending", func(pod *corev1.Pod) {
		pod.Spec.NodeName, pod.Spec.NodeSelector = "", map[string]string{"no": "such-node"}
	})
	if drained, err := s.cluster.Drain(permit.NewContext(s.Context(), granted("run-1")), []kube.Node{{}},
		kube.DrainOptions{Deadline: patience}); err == nil {
		t.Errorf("drained %+v", drained)
	}
	if !s.there(s.Context(), "pending") {
		t.Error("a pod that runs nowhere was evicted")
	}
}

func TestNodesThatWereCordonedBeforeStaySo(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 3)
	_, err := s.client.CoreV1().Nodes().Patch(s.Context(), s.names[1], types.MergePatchType,
		[]byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	s.must(err)
	for i, node := range s.cordoned() {
		if ours := node.CordonedBy == "run-1"; !node.Unschedulable || ours == (i == 1) {
			t.Errorf("node %d: unschedulable %v, cordoned by %q", i, node.Unschedulable, node.CordonedBy)
		}
		s.must(s.cluster.Uncordon(permit.NewContext(s.Context(), granted("run-1")), "run-1", node))
	}
	for i, node := range nodes(t, s.cluster, s.selector) {
		if node.Unschedulable != (i == 1) || node.CordonedBy != "" {
			t.Errorf("after the undo node %d: unschedulable %v, cordoned by %q", i, node.Unschedulable, node.CordonedBy)
		}
	}
}

// TestAWatchThatIsCutLosesNothing: the API server is killed in the middle, and
// pods go while nobody watches.
func TestAWatchThatIsCutLosesNothing(t *testing.T) {
	t.Parallel()
	plane, err := kubetest.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer plane.Close()
	s := onNodesOf(t, plane, 2)
	const held = "example.com/held"
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("held-%02d", i))
		s.pod(i%2, "held", names[i], func(pod *corev1.Pod) { pod.Finalizers = []string{held} })
	}
	s.running(names...)
	s.pods(0, "free", "free")
	var cut sync.WaitGroup
	outage := sync.OnceFunc(func() {
		cut.Go(func() {
			s.plane.StopAPIServer(t)
			s.plane.StartAPIServer(t)
			for _, name := range names {
				_, err := s.client.CoreV1().Pods(s.namespace).Patch(context.Background(), name, types.MergePatchType,
					[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
				if err != nil {
					t.Error(err)
				}
			}
		})
	})
	drained, err := s.drain(kube.DrainOptions{Parallel: 4, Progress: func(p runbook.Progress) {
		if strings.HasPrefix(p.Text, "1 of") {
			outage()
		}
	}})
	cut.Wait()
	s.must(err)
	if !slices.Equal(drained.Evicted, s.named(append([]string{"free"}, names...)...)) || !drained.Complete() {
		t.Errorf("%+v", drained)
	}
}

func TestWhatWasDoneIsSaidWhenADrainIsStopped(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 1)
	s.pods(0, "web", "web-0")
	s.pods(0, "other", "other-0", "other-1")
	s.budget("web", 1, 0)
	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	drained, err := s.cluster.Drain(permit.NewContext(ctx, granted("run-1")), s.cordoned(),
		kube.DrainOptions{Deadline: patience, Progress: func(p runbook.Progress) {
			if strings.HasPrefix(p.Text, "2 of 3") && strings.Contains(p.Details[0], "blocked") {
				stop()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped with %v", err)
	}
	if !slices.Equal(drained.Evicted, s.named("other-0", "other-1")) || len(drained.Remaining) != 1 ||
		drained.Remaining[0].Blocker != "PodDisruptionBudget web" {
		t.Errorf("%+v", drained)
	}
}
