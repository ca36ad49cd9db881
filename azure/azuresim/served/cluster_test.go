package served_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/azure/azuresim"
	"salve/kube/kubetest"
)

// nodesOf lists a pool's nodes as the cluster has them.
func nodesOf(ctx context.Context, t *testing.T, plane *kubetest.ControlPlane, pool string) []corev1.Node {
	t.Helper()
	list, err := plane.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: azuresim.PoolLabel + "=" + pool})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestNodesComeAndGoWithTheirPool(t *testing.T) {
	plane := kubetest.Start(t)
	server := serve(t, plane, "", nil)
	if got := len(nodesOf(t.Context(), t, plane, "system")); got != 3 {
		t.Fatalf("%d nodes of pool system when serving begins, want 3", got)
	}
	pools := pools(t, server)
	createPool(t, pools, "blue", 2)
	eventually(t, "the new pool's nodes are Ready", func(ctx context.Context) bool {
		ready := 0
		for _, node := range nodesOf(ctx, t, plane, "blue") {
			if azuresim.NodeStateOf(&node).Ready && node.Labels["colour"] == "blue" && len(node.Spec.Taints) == 1 {
				ready++
			}
		}
		return ready == 2
	})
	deletePool(t, pools, "blue")
	eventually(t, "its nodes are gone", func(ctx context.Context) bool { return len(nodesOf(ctx, t, plane, "blue")) == 0 })
}
