package kube_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"salve/internal/azuresim"
	"salve/internal/permit"
	"salve/kube"
	"salve/runbook"
)

var ctx = context.Background()

// spare is a second system pool, so that system pods have somewhere to go.
const spare = `
pools: [{name: system, mode: System, count: 3}, {name: spare, mode: System, count: 2}]
apps:
  - {namespace: kube-system, name: coredns, replicas: 6, minAvailable: 2, systemNodes: true}
  - {namespace: kube-system, name: metrics-server, replicas: 6, minAvailable: 2, systemNodes: true}
`

const system = "kubernetes.azure.com/agentpool=system"

// inCluster runs a test on the embedded cluster, on virtual time.
func inCluster(t *testing.T, yaml string, test func(*testing.T, *kube.Cluster, *azuresim.World)) {
	t.Helper()
	scenario, err := azuresim.Parse("test", []byte("shows: x\nexpect: remediated\n"+yaml))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		world, err := azuresim.New(scenario, azuresim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer world.Close()
		cluster, err := kube.ForConfig(world.KubernetesConfig(), clock.RealClock{})
		if err != nil {
			t.Fatal(err)
		}
		test(t, cluster, world)
	})
}

func granted(run string) runbook.Permit {
	return permit.Mint(permit.Terms{
		Run: run, Step: "drain", Epoch: 1, Expires: time.Now().Add(time.Hour), Now: time.Now,
		Lease: func(context.Context) error { return nil },
	})
}

func nodes(t testing.TB, cluster *kube.Cluster, selector string) []kube.Node {
	t.Helper()
	found, err := cluster.Nodes(ctx, selector)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func cordonAll(t *testing.T, cluster *kube.Cluster, run string) []kube.Node {
	t.Helper()
	all := nodes(t, cluster, system)
	for _, node := range all {
		if err := cluster.Cordon(permit.NewContext(ctx, granted(run)), node); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestOnlyOurCordonsAreTakenBack(t *testing.T) {
	inCluster(t, "pools: [{name: system, mode: System, count: 3, cordoned: [1]}]\n",
		func(t *testing.T, cluster *kube.Cluster, _ *azuresim.World) {
			cordonAll(t, cluster, "run-1")
			for i, node := range nodes(t, cluster, system) {
				if ours := node.CordonedBy == "run-1"; !node.Unschedulable || ours == (i == 1) {
					t.Errorf("node %d: unschedulable %v, cordoned by %q", i, node.Unschedulable, node.CordonedBy)
				}
				for _, run := range []string{"run-2", "", "run-1"} {
					if err := cluster.Uncordon(permit.NewContext(ctx, granted("run-1")), run, node); err != nil {
						t.Fatal(err)
					}
					after := nodes(t, cluster, system)[i]
					if want := run != "run-1" || i == 1; after.Unschedulable != want {
						t.Errorf("node %d after uncordoning for %q: unschedulable %v", i, run, after.Unschedulable)
					}
				}
			}
		})
}

func TestCordonJudgesAgainWhenTheNodeChanged(t *testing.T) {
	inCluster(t, "", func(t *testing.T, cluster *kube.Cluster, world *azuresim.World) {
		stale := nodes(t, cluster, system)[0]
		patch := []byte(`{"metadata":{"labels":{"touched":"yes"}}}`)
		if _, err := world.Kubernetes().CoreV1().Nodes().Patch(ctx, stale.Name, types.MergePatchType, patch,
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Cordon(permit.NewContext(ctx, granted("run-1")), stale); err != nil {
			t.Fatal(err)
		}
		if after := nodes(t, cluster, system)[0]; after.CordonedBy != "run-1" {
			t.Errorf("not cordoned: %+v", after)
		}
		another := stale
		another.UID = "of-a-machine-that-is-gone"
		if err := cluster.Uncordon(permit.NewContext(ctx, granted("run-1")), "run-1", another); err != nil {
			t.Fatal(err)
		}
	})
}

func TestANodeOfTheSameNameIsNotTheOneThatWasRead(t *testing.T) {
	inCluster(t, "", func(t *testing.T, cluster *kube.Cluster, _ *azuresim.World) {
		gone := nodes(t, cluster, system)[0]
		gone.UID = "of-a-machine-that-is-gone"
		if err := cluster.Cordon(permit.NewContext(ctx, granted("run-1")), gone); err != nil {
			t.Fatal(err)
		}
		if after := nodes(t, cluster, system)[0]; after.Unschedulable {
			t.Error("another machine was cordoned")
		}
	})
}

func TestDrainEmptiesNodesAtOnce(t *testing.T) {
	inCluster(t, spare, func(t *testing.T, cluster *kube.Cluster, _ *azuresim.World) {
		var last runbook.Progress
		start := time.Now()
		drained, err := cluster.Drain(permit.NewContext(ctx, granted("run-1")), cordonAll(t, cluster, "run-1"),
			kube.DrainOptions{Deadline: 5 * time.Minute, Progress: func(p runbook.Progress) { last = p }})
		if err != nil {
			t.Fatal(err)
		}
		if !drained.Complete() || len(drained.Evicted) == 0 || len(drained.Skipped) == 0 {
			t.Errorf("%+v", drained)
		}
		for _, skipped := range drained.Skipped {
			if skipped.Node == "" || !strings.Contains(skipped.Reason, "DaemonSet") || strings.Contains(skipped.Reason,
				skipped.Pod) {
				t.Errorf("%+v", skipped)
			}
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %s", took)
		}
		if len(last.Details) == 0 || strings.Contains(strings.Join(last.Details, " "), "blocked") {
			t.Errorf("the last progress was %+v", last)
		}
		left, err := cluster.PodsToEvict(ctx, nodes(t, cluster, system), nil)
		if err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
	})
}

func TestDrainNamesTheBudgetInTheWay(t *testing.T) {
	inCluster(t, spare+"faults: [{pdbBlocks: {app: coredns}}]\n", func(t *testing.T, cluster *kube.Cluster,
		_ *azuresim.World) {
		start := time.Now()
		drained, err := cluster.Drain(permit.NewContext(ctx, granted("run-1")), cordonAll(t, cluster, "run-1"),
			kube.DrainOptions{Deadline: 2 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 2*time.Minute || took > 2*time.Minute+10*time.Second {
			t.Errorf("the deadline of 2m was kept after %s", took)
		}
		if drained.Complete() || !strings.Contains(drained.Blockers(), "coredns") || !strings.Contains(drained.Blockers(),
			"PodDisruptionBudget") {
			t.Errorf("blockers %q", drained.Blockers())
		}
		for _, pod := range drained.Remaining {
			if !strings.Contains(pod.Pod, "coredns") {
				t.Errorf("%s was held up by another one's budget", pod.Pod)
			}
		}
	})
}

func TestNoPermitNoCordon(t *testing.T) {
	inCluster(t, "", func(t *testing.T, cluster *kube.Cluster, world *azuresim.World) {
		all := nodes(t, cluster, system)
		if err := cluster.Cordon(ctx, all[0]); err == nil {
			t.Error("cordoned without a permit")
		}
		if mutating := slices.ContainsFunc(world.Calls(), func(call azuresim.Call) bool { return call.Mutating }); mutating {
			t.Error("a change was sent")
		}
	})
}

func TestAwaitNodesSeesThemComeAndSurvivesALostWatch(t *testing.T) {
	inCluster(t, "", func(t *testing.T, cluster *kube.Cluster, world *azuresim.World) {
		watches := 0
		world.Intercept(func(call azuresim.Call) azuresim.Verdict {
			if call.Verb == "watch" {
				if watches++; watches <= 2 {
					return azuresim.DropBefore
				}
			}
			return azuresim.Proceed
		})
		cordoned := nodes(t, cluster, system)[0]
		go func() {
			time.Sleep(30 * time.Second)
			_ = cluster.Cordon(permit.NewContext(ctx, granted("run-1")), cordoned)
		}()
		start := time.Now()
		err := cluster.AwaitNodes(ctx, system, func(all []kube.Node) bool {
			return slices.ContainsFunc(all, func(node kube.Node) bool { return node.Unschedulable })
		})
		if took := time.Since(start); err != nil || took > 31*time.Second {
			t.Errorf("seen after %s: %v", took, err)
		}
	})
}
