package served_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"salve/internal/azuresim"
	"salve/internal/azuresim/managed"
	"salve/internal/azuresim/served"
	"salve/internal/kubetest"
)

// nodesOf lists a pool's nodes as the cluster has them; none while it can't be asked.
func nodesOf(ctx context.Context, plane *kubetest.ControlPlane, pool string) []corev1.Node {
	list, err := plane.Client().CoreV1().Nodes().
		List(ctx, metav1.ListOptions{LabelSelector: azuresim.PoolLabel + "=" + pool})
	if err != nil {
		return nil
	}
	return list.Items
}

func readyNodes(ctx context.Context, plane *kubetest.ControlPlane, pool string) int {
	ready := 0
	for _, node := range nodesOf(ctx, plane, pool) {
		if azuresim.NodeStateOf(&node).Ready {
			ready++
		}
	}
	return ready
}

// gone tells whether nothing of the label is left, of what tests can see.
func gone(ctx context.Context, t *testing.T, plane *kubetest.ControlPlane) bool {
	t.Helper()
	ours := metav1.ListOptions{LabelSelector: managed.OwnerLabel}
	nodes, err := plane.Client().CoreV1().Nodes().List(ctx, ours)
	if err != nil {
		t.Fatal(err)
	}
	pods, err := plane.Client().CoreV1().Pods("").List(ctx, ours)
	if err != nil {
		t.Fatal(err)
	}
	_, err = plane.Client().CoreV1().Namespaces().Get(ctx, "shop", metav1.GetOptions{})
	return len(nodes.Items) == 0 && len(pods.Items) == 0 && apierrors.IsNotFound(err)
}

func TestNodesComeAndGoWithTheirPool(t *testing.T) {
	plane := kubetest.Start(t)
	server := serve(t, plane, apps, nil)
	if got := readyNodes(t.Context(), plane, "system"); got != 3 {
		t.Fatalf("%d nodes of pool system are Ready when serving begins, want 3", got)
	}
	pools := pools(t, server)
	createPool(t, pools, "blue", 2)
	eventually(t, "the new pool's nodes are Ready", func(ctx context.Context) bool {
		return readyNodes(ctx, plane, "blue") == 2
	})
	for _, node := range nodesOf(t.Context(), plane, "blue") {
		// The cluster's own taints come and go with the node's readiness.
		tainted := slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == "only" })
		if node.Labels["colour"] != "blue" || !strings.HasPrefix(node.Spec.ProviderID, "azure:///subscriptions/") ||
			!tainted {
			t.Errorf("node %s has labels %v, provider ID %q and taints %v",
				node.Name, node.Labels, node.Spec.ProviderID, node.Spec.Taints)
		}
	}
	deletePool(t, pools, "blue")
	eventually(t, "its nodes are gone", func(ctx context.Context) bool { return len(nodesOf(ctx, plane, "blue")) == 0 })
}

// TestADeletedPoolsPodsMoveAsTheirBudgetAllows: AKS asks the cluster's own Eviction API, and fails when a budget never
// lets go; unless it is told to ask none.
func TestADeletedPoolsPodsMoveAsTheirBudgetAllows(t *testing.T) {
	plane := kubetest.Start(t)
	server := serve(t, plane, "apps: [{namespace: default, name: frontend, replicas: 4, minAvailable: 4}]\n"+
		"durations: {drain: 5s}\n", nil)
	pools := pools(t, server)
	err := deletePoolWith(t, pools, "workers", nil)
	var refused *azcore.ResponseError
	if !errors.As(err, &refused) || refused.ErrorCode != "PodDrainFailure" ||
		!strings.Contains(err.Error(), "blocked by pdb frontend") {
		t.Fatalf("got %v, want the budget named", err)
	}
	if err := deletePoolWith(t, pools, "workers", to.Ptr(true)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all pods run on the nodes that are left", func(ctx context.Context) bool {
		pods, err := plane.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: managed.OwnerLabel})
		if err != nil {
			return false
		}
		running := 0
		for _, pod := range pods.Items {
			if pod.Status.Phase == corev1.PodRunning && strings.HasPrefix(pod.Spec.NodeName, "aks-system-") {
				running++
			}
		}
		return running == 4 && len(pods.Items) == 4 && len(nodesOf(ctx, plane, "workers")) == 0
	})
}

// deleteAtOnce deletes a pool without a drain, which would wait for the cluster's API.
func deleteAtOnce(t *testing.T, pools *armcontainerservice.AgentPoolsClient, name string) {
	t.Helper()
	if err := deletePoolWith(t, pools, name, to.Ptr(true)); err != nil {
		t.Fatal(err)
	}
}

func TestAKilledAPIServerMissesNothing(t *testing.T) {
	plane := kubetest.Start(t)
	server := serve(t, plane, apps, nil)
	pools := pools(t, server)
	plane.StopAPIServer(t)
	createPool(t, pools, "blue", 2)
	deleteAtOnce(t, pools, "workers")
	plane.StartAPIServer(t)
	eventually(t, "the nodes are what the pools say", func(ctx context.Context) bool {
		return readyNodes(ctx, plane, "blue") == 2 && len(nodesOf(ctx, plane, "workers")) == 0 &&
			readyNodes(ctx, plane, "system") == 3
	})
}

func TestItsStateOutlivesItsClients(t *testing.T) {
	server := serve(t, kubetest.Start(t), apps, nil)
	createPool(t, pools(t, server), "blue", 1)
	another := pools(t, server)
	got, err := another.Get(t.Context(), group, cluster, "blue", nil)
	if err != nil || *got.Properties.ProvisioningState != "Succeeded" || *got.Properties.NodeLabels["colour"] != "blue" {
		t.Fatalf("another client sees %+v, %v", got.Properties, err)
	}
}

func TestTheGivenClusterIsLeftAsItIsOrCleared(t *testing.T) {
	plane := kubetest.Start(t)
	theirs := plane.Nodes(t, 1, nil)[0]
	leave := func(options *served.Options) { options.RemoveAtEnd = false }
	first := serve(t, plane, "", leave) // with the apps of every scenario, in namespaces of their own
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := readyNodes(t.Context(), plane, "system"); got != 3 {
		t.Fatalf("%d nodes after the end, want 3", got)
	}
	t.Run("and the next one of the same cluster begins anew", func(t *testing.T) {
		serve(t, plane, "seed: 7\npools: [{name: other, mode: System, count: 2}]\n", nil)
		old, now := len(nodesOf(t.Context(), plane, "system")), readyNodes(t.Context(), plane, "other")
		if old != 0 || now != 2 {
			t.Errorf("%d nodes are left of the one before, %d are there; want 0 and 2", old, now)
		}
	})
	if !gone(t.Context(), t, plane) {
		t.Error("something is left after the one that removes at its end")
	}
	if _, err := plane.Client().CoreV1().Nodes().Get(t.Context(), theirs, metav1.GetOptions{}); err != nil {
		t.Errorf("somebody else's node: %v", err)
	}
}

func TestANodeOfSomebodyElseIsNotTakenOver(t *testing.T) {
	plane := kubetest.Start(t)
	server := serve(t, plane, apps, nil)
	name := nodesOf(t.Context(), plane, "system")[0].Name
	if err := server.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := plane.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := plane.Client().CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{})
		if err != nil {
			t.Error(err)
		}
	})
	refused(t, plane.Kubeconfig(), "adding node "+name+": it is there already")
	left, err := plane.Client().CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || left.Labels[managed.OwnerLabel] != "" {
		t.Errorf("somebody else's node: %+v, %v", left, err)
	}
}

func TestAKubeconfigWithoutRightsIsRefusedBeforeAnythingIsServed(t *testing.T) {
	refused(t, kubetest.Start(t).KubeconfigOf(t, "stranger"), "forbidden")
}

// refused expects that serving does not begin.
func refused(t *testing.T, path, why string) {
	t.Helper()
	scenario, err := azuresim.Parse("test.yaml", []byte("shows: a test\nexpect: remediated\n"+apps))
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := served.ReadKubeconfig(path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := served.Start(t.Context(), served.Options{Scenario: scenario, Kubeconfig: kubeconfig})
	if err == nil {
		_ = server.Close(context.Background()) // it should not be there
	}
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want a refusal: %s", err, why)
	}
}

func TestClientsGetAKubeconfigThatNeedsNoFiles(t *testing.T) {
	plane := kubetest.Start(t)
	elsewhere := filepath.Join(t.TempDir(), "kubeconfig") // whose certificate's file is named from where the other one was
	text, err := os.ReadFile(plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(elsewhere, text, 0o600); err != nil {
		t.Fatal(err)
	}
	server := serve(t, plane, apps+"entra: true\n", func(options *served.Options) {
		if options.HandOut, err = served.ReadKubeconfig(elsewhere); err != nil {
			t.Fatal(err)
		}
	})
	got := userCredential(t, server)
	if strings.Contains(string(got), "certificate-authority:") || strings.Contains(string(got), "kubelogin") {
		t.Errorf("it leads to a file or to a login:\n%s", got)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(got)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil || len(nodes.Items) < 5 {
		t.Errorf("listing nodes with it: %v", err)
	}
}
