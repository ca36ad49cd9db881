package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"salve/kube"
	"salve/kube/kubetest"
	"salve/runbook"
)

func TestDrainTakesWhatKubectlWouldTake(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 1)
	s.daemonSet("agent")
	s.pods(0, "alone", "unmanaged")
	s.pod(0, "cache", "with-empty-dir", func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	})
	s.pod(0, "static", "mirror", func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "of-a-file"}
	})
	s.pod(0, "agent", "orphan-of-a-daemon-set", func(pod *corev1.Pod) {
		controller := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "no-more", UID: "gone", Controller: &controller}}
	})
	s.pods(0, "job", "finished")
	_, err := s.client.CoreV1().Pods(s.namespace).Patch(s.Context(), "finished", types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
	s.must(err)

	drained, err := s.drain(kube.DrainOptions{})
	s.must(err)
	gone := s.named("finished", "unmanaged", "with-empty-dir")
	if left := slices.DeleteFunc(slices.Clone(drained.Evicted), func(pod string) bool { return strings.HasSuffix(pod, "orphan-of-a-daemon-set") }); !slices.Equal(left, gone) {
		t.Errorf("evicted %v, want %v", left, gone)
	}
	reasons := map[string]string{}
	for _, skipped := range drained.Skipped {
		reasons[skipped.Reason] += " " + skipped.Pod
	}
	if len(reasons) != 2 || !strings.Contains(reasons["ignoring DaemonSet-managed Pods"], "agent") || !strings.Contains(reasons["ignoring mirror Pods"], "mirror") {
		t.Errorf("skipped %v", drained.Skipped)
	}
	if !drained.Complete() {
		t.Errorf("left %v", drained.Left)
	}
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
	replace := sync.OnceFunc(func() {
		now := int64(0)
		s.must(s.client.CoreV1().Pods(s.namespace).Delete(s.Context(), "db-0", metav1.DeleteOptions{GracePeriodSeconds: &now}))
		s.pods(0, "db", "db-0")
	})
	s.evictions(func(string) *http.Response {
		replace()
		return nil
	})
	drained, err := s.drain(kube.DrainOptions{})
	s.must(err)
	if !slices.Equal(drained.Evicted, s.named("db-0")) || !drained.Complete() {
		t.Errorf("%+v", drained)
	}
	if !s.there(s.Context(), "db-0") {
		t.Error("the new db-0 was evicted")
	}
}

func TestABudgetThatAllowsNothingIsNamedAndHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 2)
	var others []string
	for i := range 40 {
		others = append(others, fmt.Sprintf("other-%02d", i))
	}
	s.pods(0, "web", "web-0", "web-1")
	s.pods(1, "web", "web-2")
	s.pods(0, "other", others[:20]...)
	s.pods(1, "other", others[20:]...)
	s.budget("web", "web", 3, 0)
	var reports []runbook.Progress
	drained, err := s.drain(kube.DrainOptions{Deadline: 10 * time.Second, Parallel: 2, Progress: func(p runbook.Progress) { reports = append(reports, p) }})
	s.must(err)
	if !slices.Equal(drained.Evicted, s.named(others...)) {
		t.Errorf("evicted %v", drained.Evicted)
	}
	var left []kube.Remaining
	for i, node := range []int{0, 0, 1} {
		left = append(left, kube.Remaining{Pod: s.named(fmt.Sprintf("web-%d", i))[0], Node: s.names[node], Blocker: "PodDisruptionBudget web"})
	}
	if difference := cmp.Diff(left, drained.Left); difference != "" {
		t.Errorf("left (-want +got):\n%s", difference)
	}
	last := reports[len(reports)-1]
	want := runbook.Progress{Text: "40 of 43 pods gone", Details: []string{
		s.names[0] + ": 2 pods left, 2 blocked by PodDisruptionBudget web in " + s.namespace,
		s.names[1] + ": 1 pod left, 1 blocked by PodDisruptionBudget web in " + s.namespace,
	}}
	if difference := cmp.Diff(want, last); difference != "" {
		t.Errorf("the last progress (-want +got):\n%s", difference)
	}
	if len(reports) > 43 {
		t.Errorf("%d reports of progress in ten seconds", len(reports))
	}
}

func TestABudgetThatAllowsOneAtATimeIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, allow := range map[string]bool{"with the right to read budgets": true, "with the rights that we ask for": false} {
		t.Run(name, func(t *testing.T) {
			s := onNodes(t, 4)
			s.must(s.cluster.Cordon(s.Context(), granted("spare"), nodes(t, s.cluster, s.selector)[2:]...))
			s.deployment("web", 6)
			s.budget("web", "web", 5, 1)
			for _, node := range nodes(t, s.cluster, s.selector)[2:] {
				s.must(s.cluster.Uncordon(s.Context(), granted("spare"), node, "spare"))
			}
			if !allow {
				s.cluster = connected(t, s.asUser())
			}
			old := nodes(t, s.cluster, s.selector)[:2]
			s.must(s.cluster.Cordon(s.Context(), granted("run-1"), old...))
			drained, err := s.cluster.Drain(s.Context(), granted("run-1"), old, kube.DrainOptions{Deadline: patience})
			s.must(err)
			if len(drained.Evicted) != 6 || !drained.Complete() {
				t.Errorf("%+v", drained)
			}
		})
	}
}

// asUser gives a kubeconfig of a user who has the rights of our ClusterRole.
func (s *site) asUser() string {
	raw, err := os.ReadFile("../deploy/cluster-role.yaml")
	s.must(err)
	var role rbacv1.ClusterRole
	s.must(yaml.UnmarshalStrict(raw, &role))
	role.Name = s.namespace
	_, err = s.client.RbacV1().ClusterRoles().Create(s.Context(), &role, metav1.CreateOptions{})
	s.must(err)
	_, err = s.client.RbacV1().ClusterRoleBindings().Create(s.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.namespace}},
	}, metav1.CreateOptions{})
	s.must(err)
	return s.plane.KubeconfigOf(s.TB, s.namespace)
}

// TestAPodUnderTwoBudgetsIsSaidSo: the Eviction API refuses such a pod with the
// HTTP code of success.
func TestAPodUnderTwoBudgetsIsSaidSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rightsWeAskFor bool
		blocker        string
	}{
		"with the right to read budgets":  {false, "more than one PodDisruptionBudget: one, two"},
		"with the rights that we ask for": {true, "more than one PodDisruptionBudget"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onNodes(t, 1)
			s.pods(0, "web", "web-0")
			s.pods(0, "other", "other-0")
			s.budget("one", "web", 0, 1)
			s.budget("two", "web", 0, 1)
			if c.rightsWeAskFor {
				s.cluster = connected(t, s.asUser())
			}
			drained, err := s.drain(kube.DrainOptions{Deadline: 5 * time.Second})
			s.must(err)
			if !slices.Equal(drained.Evicted, s.named("other-0")) || len(drained.Left) != 1 || !strings.Contains(drained.Left[0].Blocker, c.blocker) {
				t.Errorf("%+v", drained)
			}
		})
	}
}

func TestNoMoreIsUnderWayAtOnceThanAllowed(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 2)
	var free, web []string
	for i := range 12 {
		free, web = append(free, fmt.Sprintf("free-%02d", i)), append(web, fmt.Sprintf("web-%02d", i))
	}
	s.pods(0, "free", free...)
	s.pods(1, "web", web...)
	s.budget("web", "web", 0, 12)
	var mu sync.Mutex
	underWay := map[string]int{}
	s.evictions(func(pod string) *http.Response {
		app, _, _ := strings.Cut(pod, "-")
		mu.Lock()
		underWay[app]++
		if app == "web" && underWay[app] > 1 {
			t.Errorf("%d pods under one budget were asked for at once", underWay[app])
		}
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		underWay[app]--
		mu.Unlock()
		return nil
	})
	drained, err := s.drain(kube.DrainOptions{Parallel: 3})
	s.must(err)
	if !drained.Complete() || len(drained.Evicted) != 24 {
		t.Errorf("%+v", drained)
	}
	if most := s.most.Load(); most > 3 {
		t.Errorf("%d evictions at once, 3 are allowed", most)
	}
}

func TestANodeWithoutANameIsNotEveryPodThatRunsNowhere(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 1)
	s.pod(0, "pending", "pending", func(pod *corev1.Pod) {
		pod.Spec.NodeName, pod.Spec.NodeSelector = "", map[string]string{"no": "such-node"}
	})
	if drained, err := s.cluster.Drain(s.Context(), granted("run-1"), []kube.Node{{}}, kube.DrainOptions{Deadline: patience}); err == nil {
		t.Errorf("drained %+v", drained)
	}
	if !s.there(s.Context(), "pending") {
		t.Error("a pod that runs nowhere was evicted")
	}
}

const (
	refusedByBudget = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,
		"message":"Cannot evict pod as it would violate the pod's disruption budget.",
		"details":{"retryAfterSeconds":3,"causes":[{"reason":"DisruptionBudget","message":"The disruption budget web is still being processed by the server."}]}}`
	throttled = "Too many requests, please try again later."
)

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer     *http.Response
		othersWait bool
	}{
		"by a budget: it alone waits":             {tooMany("application/json", refusedByBudget, "3"), false},
		"by the API server: nothing is asked for": {tooMany("text/plain", throttled, "3"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onNodes(t, 1)
			s.pods(0, "web", "web-0", "web-1")
			s.pods(0, "other", "other-0", "other-1", "other-2")
			s.budget("web", "web", 0, 2)
			var mu sync.Mutex
			var refused, web, others time.Time
			s.evictions(func(pod string) *http.Response {
				mu.Lock()
				defer mu.Unlock()
				switch now := time.Now(); {
				case pod == "web-0" && refused.IsZero():
					refused = now
					return c.answer
				case strings.HasPrefix(pod, "web") && web.IsZero():
					web = now
				case strings.HasPrefix(pod, "other"):
					others = now
				}
				return nil
			})
			drained, err := s.drain(kube.DrainOptions{Parallel: 1})
			s.must(err)
			if !drained.Complete() || len(drained.Evicted) != 5 {
				t.Errorf("%+v", drained)
			}
			if waited := web.Sub(refused); waited < 3*time.Second {
				t.Errorf("the budget's pods were asked for again after %s", waited)
			}
			if waited := others.Sub(refused); waited >= 3*time.Second != c.othersWait {
				t.Errorf("the other pods were asked for until %s after", waited)
			}
		})
	}
}

func TestNodesThatWereCordonedBeforeStaySo(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 3)
	_, err := s.client.CoreV1().Nodes().Patch(s.Context(), s.names[1], types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	s.must(err)
	for i, node := range s.cordoned() {
		if ours := node.CordonedBy == "run-1"; !node.Unschedulable || ours == (i == 1) {
			t.Errorf("node %d: unschedulable %v, cordoned by %q", i, node.Unschedulable, node.CordonedBy)
		}
		s.must(s.cluster.Uncordon(s.Context(), granted("run-1"), node, "run-1"))
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
				_, err := s.client.CoreV1().Pods(s.namespace).Patch(context.Background(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
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
	s.budget("web", "web", 1, 0)
	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	drained, err := s.cluster.Drain(ctx, granted("run-1"), s.cordoned(), kube.DrainOptions{Deadline: patience, Progress: func(p runbook.Progress) {
		if strings.HasPrefix(p.Text, "2 of 3") && strings.Contains(p.Details[0], "blocked") {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped with %v", err)
	}
	if !slices.Equal(drained.Evicted, s.named("other-0", "other-1")) || len(drained.Left) != 1 || drained.Left[0].Blocker != "PodDisruptionBudget web" {
		t.Errorf("%+v", drained)
	}
}
