package azuresim_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/azuresim"
)

func (a *azure) nodesOf(t *testing.T, pool string) []corev1.Node {
	t.Helper()
	list, err := a.world.Kubernetes().CoreV1().Nodes().
		List(t.Context(), metav1.ListOptions{LabelSelector: "agentpool=" + pool})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (a *azure) podsOn(t *testing.T, node, selector string) []corev1.Pod {
	t.Helper()
	list, err := a.world.Kubernetes().CoreV1().Pods("").
		List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node, LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (a *azure) cordon(ctx context.Context, node corev1.Node) error {
	patch := []byte(`{"metadata":{"resourceVersion":"` + node.ResourceVersion + `"},"spec":{"unschedulable":true}}`)
	_, err := a.world.Kubernetes().CoreV1().Nodes().
		Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// evict asks once: client-go by itself repeats what is refused with a Retry-After.
func (a *azure) evict(ctx context.Context, pod corev1.Pod, uid types.UID) error {
	return a.world.Kubernetes().CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).
		SubResource("eviction").MaxRetries(0).Body(&policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	}).Do(ctx).Error()
}

func TestCordonHonoursTheResourceVersion(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		node := a.nodesOf(t, "system")[0]
		if err := a.cordon(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		if err := a.cordon(t.Context(), node); !apierrors.IsConflict(err) {
			t.Fatalf("got %v, want a conflict", err)
		}
		fresh := a.nodesOf(t, "system")[0]
		if !fresh.Spec.Unschedulable || fresh.ResourceVersion == node.ResourceVersion {
			t.Fatalf("the node is not cordoned: %+v", fresh.Spec)
		}
		fresh.UID = "another"
		_, err := a.world.Kubernetes().CoreV1().Nodes().Update(t.Context(), &fresh, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			t.Fatalf("got %v, want a conflict", err)
		}
	})
}

func TestAnEvictedPodMovesToANodeThatTakesIt(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		node := a.nodesOf(t, "system")[0]
		if err := a.cordon(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		moving := a.podsOn(t, node.Name, "app notin (kube-proxy,azure-cns)")
		if len(moving) == 0 {
			t.Fatal("no pod to move")
		}
		for _, pod := range moving {
			if err := a.evict(t.Context(), pod, "another"); !apierrors.IsConflict(err) {
				t.Fatalf("evicting with another UID: got %v, want a conflict", err)
			}
			if err := a.evict(t.Context(), pod, pod.UID); err != nil {
				t.Fatal(err)
			}
		}
		ending, err := a.world.Kubernetes().CoreV1().Pods(moving[0].Namespace).
			Get(t.Context(), moving[0].Name, metav1.GetOptions{})
		if err != nil || ending.DeletionTimestamp == nil {
			t.Fatalf("the evicted pod is not ending: %v", err)
		}
		time.Sleep(10 * time.Second)
		for _, pod := range a.world.Snapshot().Pods {
			if pod.Node == "" || pod.Terminating {
				t.Errorf("%s/%s is not settled: %+v", pod.Namespace, pod.Name, pod)
			}
		}
		if left := a.podsOn(t, node.Name, ""); len(left) != 2 {
			t.Fatalf("%d pods are left on the node, want those of the 2 daemon sets", len(left))
		}
	})
}

func TestAPodWaitsForANode(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		for _, node := range a.nodesOf(t, "system") {
			if err := a.cordon(t.Context(), node); err != nil {
				t.Fatal(err)
			}
		}
		pod := a.podsWith(t, "app=coredns")[0]
		if err := a.evict(t.Context(), pod, pod.UID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		waiting := 0
		for _, pod := range a.podsWith(t, "app=coredns") {
			if pod.Spec.NodeName == "" {
				waiting++
			}
		}
		if waiting != 1 {
			t.Fatalf("%d pods wait, want 1", waiting)
		}
		a.createStandIn(t, 1)
		if placed := a.podsOn(t, a.nodesOf(t, "standin")[0].Name, "app=coredns"); len(placed) != 1 {
			t.Fatalf("%d pods moved to the stand-in, want 1", len(placed))
		}
	})
}

func (a *azure) podsWith(t *testing.T, selector string) []corev1.Pod {
	t.Helper()
	list, err := a.world.Kubernetes().CoreV1().Pods("").List(t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestABudgetRefusesAnEvictionAndIsNamed(t *testing.T) {
	scenario := parsed(t, "faults:\n  - pdbBlocks: {app: coredns, until: 1m}\n")
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		pod := a.podsWith(t, "app=coredns")[0]
		err := a.evict(t.Context(), pod, pod.UID)
		if !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
			t.Fatalf("got %v, want a refusal by a budget", err)
		}
		cause, _ := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
		if cause.Message != "The disruption budget coredns needs 2 healthy pods and has 2 currently" {
			t.Fatalf("cause %q", cause.Message)
		}
		if seconds, asked := apierrors.SuggestsClientDelay(err); !asked || seconds != 5 {
			t.Fatalf("asked to wait %d seconds, want 5", seconds)
		}
		time.Sleep(time.Minute)
		if err := a.evict(t.Context(), pod, pod.UID); err != nil {
			t.Fatal(err)
		}
	})
}

func TestABudgetLetsOneGoAtATime(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		two := a.podsWith(t, "app=coredns")
		if err := a.evict(t.Context(), two[0], two[0].UID); err != nil {
			t.Fatal(err)
		}
		if err := a.evict(t.Context(), two[1], two[1].UID); !apierrors.IsTooManyRequests(err) {
			t.Fatalf("got %v, want a refusal", err)
		}
		time.Sleep(2 * time.Second) // the replacement runs
		if err := a.evict(t.Context(), two[1], two[1].UID); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAWatchSeesANodeBecomeReady(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		list, err := a.world.Kubernetes().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.put(t.Context(), "standin", systemPool(1), nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(110 * time.Second) // the node may be there before the watch begins: nothing is lost
		watching, err := a.world.Kubernetes().CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{
			LabelSelector: "agentpool=standin", ResourceVersion: list.ResourceVersion,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer watching.Stop()
		for event := range watching.ResultChan() {
			node, ok := event.Object.(*corev1.Node)
			if !ok || node.Labels["agentpool"] != "standin" {
				t.Fatalf("unexpected event %s of %v", event.Type, event.Object)
			}
			if event.Type == watch.Modified && node.Status.Conditions[0].Status == corev1.ConditionTrue {
				break
			}
		}
		if took := time.Since(a.start); took < 90*time.Second || took > 150*time.Second {
			t.Fatalf("the node became Ready after %s, want 60-90 %% of 2m30s", took)
		}
	})
}

func TestAPoolThatGoesTakesItsNodesAndMovesItsPods(t *testing.T) {
	inWorld(t, builtIn(t, "wedged"), func(t *testing.T, a *azure) {
		a.createStandIn(t, 1)
		poller, err := a.pools.BeginDelete(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, "system", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range a.nodesOf(t, "system") {
			if !node.Spec.Unschedulable {
				t.Fatalf("node %s is not cordoned", node.Name)
			}
		}
		if _, err := poller.PollUntilDone(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		state := a.world.Snapshot()
		for _, pod := range state.Pods {
			if pod.Node == "" || pod.Terminating {
				t.Errorf("%s/%s is not settled", pod.Namespace, pod.Name)
			}
		}
		if len(a.nodesOf(t, "system")) != 0 || len(state.Pools) != 2 {
			t.Fatalf("pools %+v", state.Pools)
		}
	})
}

func TestANodeCanFailToJoin(t *testing.T) {
	inWorld(t, builtIn(t, "stand-in-never-joins"), func(t *testing.T, a *azure) {
		a.createStandIn(t, 3)
		time.Sleep(time.Hour)
		if ready := a.readyNodes("standin"); ready != 2 {
			t.Fatalf("%d nodes joined, want 2 of 3", ready)
		}
	})
}

func TestKubernetesCallsAreRecordedAndCanBeDropped(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		pod := a.podsWith(t, "app=coredns")[0]
		a.world.Intercept(func(call azuresim.Call) azuresim.Verdict {
			if call.Verb != "get" { // the hook may itself call
				_, _ = a.world.Kubernetes().CoreV1().Nodes().Get(t.Context(), "none", metav1.GetOptions{})
			}
			return map[string]azuresim.Verdict{"create": azuresim.DropAfter, "watch": azuresim.DropBefore}[call.Verb]
		})
		if err := a.evict(t.Context(), pod, pod.UID); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("got %v, want a lost answer", err)
		}
		watching, err := a.world.Kubernetes().CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, open := <-watching.ResultChan(); open { // client-go takes a connection that was reset for a watch that ended
			t.Fatal("the watch was not dropped")
		}
		calls := a.world.Calls()
		evicted, watched := calls[1], calls[3]
		if evicted.Resource != "pods/eviction kube-system/"+pod.Name || !evicted.Mutating || evicted.Status != 201 {
			t.Fatalf("the eviction is recorded as %+v", evicted)
		}
		if watched.Resource != "nodes" || watched.Mutating || watched.Status != 0 {
			t.Fatalf("the watch is recorded as %+v", watched)
		}
	})
}

func TestSomebodyElsesUpdateChangesTheETag(t *testing.T) {
	inWorld(t, builtIn(t, "concurrent-writer"), func(t *testing.T, a *azure) {
		before := a.pool(t, "system")
		pod := a.podsWith(t, "app=frontend")[0]
		if err := a.evict(t.Context(), pod, pod.UID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		after := a.pool(t, "system")
		if *after.Properties.ETag == *before.Properties.ETag || *after.Properties.Tags["owner"] != "somebody-else" ||
			*after.Properties.ProvisioningState != "Failed" {
			t.Fatalf("the pool is %+v", after.Properties)
		}
	})
}

func TestSideBySideEvictionsKeepTheBudget(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		var evictors sync.WaitGroup
		var allowed atomic.Int32
		for _, pod := range a.podsWith(t, "app=frontend") {
			evictors.Go(func() {
				if err := a.evict(t.Context(), pod, pod.UID); err == nil {
					allowed.Add(1)
				} else if !apierrors.IsTooManyRequests(err) {
					t.Error(err)
				}
			})
		}
		evictors.Wait()
		if allowed.Load() != 2 {
			t.Fatalf("%d of 5 pods were evicted at once, want 2: 3 must stay available", allowed.Load())
		}
	})
}
