package managed

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/azuresim"
)

// Await waits until everything asked for so far is in the cluster, its nodes are Ready, and each of its pods runs or is
// known to have no place. The error is what was refused, or what was still waited for when ctx ended.
func (c *Cluster) Await(ctx context.Context) error {
	if err := c.until(ctx, "bringing the given cluster to where the scenario begins", c.queue.drained); err != nil {
		return err
	}
	return c.until(ctx, "waiting for the given cluster to be where the scenario begins", func(ctx context.Context) error {
		nodes, err := c.nodesReady(ctx)
		if err != nil {
			return err
		}
		return c.podsPlaced(ctx, nodes)
	})
}

func (c *Cluster) nodesReady(ctx context.Context) (int, error) {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, c.owned())
	if err != nil {
		return 0, fmt.Errorf("listing nodes: %w", err)
	}
	for i := range nodes.Items {
		if node := azuresim.NodeStateOf(&nodes.Items[i]); !node.Ready {
			return 0, fmt.Errorf("node %s is not Ready: "+
				"is kwok at work there, for all nodes or for those with the annotation %s=%s?",
				node.Name, animated, asFake)
		}
	}
	return len(nodes.Items), nil
}

// podsPlaced also checks whether all pods are made that are to be.
func (c *Cluster) podsPlaced(ctx context.Context, nodes int) error {
	wanted := 0
	replicas, err := c.client.AppsV1().ReplicaSets("").List(ctx, c.owned())
	if err != nil {
		return fmt.Errorf("listing ReplicaSets: %w", err)
	}
	for _, set := range replicas.Items {
		wanted += int(*set.Spec.Replicas)
	}
	daemons, err := c.client.AppsV1().DaemonSets("").List(ctx, c.owned())
	if err != nil {
		return fmt.Errorf("listing DaemonSets: %w", err)
	}
	wanted += nodes * len(daemons.Items)
	pods, err := c.client.CoreV1().Pods("").List(ctx, c.owned())
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	if len(pods.Items) != wanted {
		return fmt.Errorf("there are %d pods of %d", len(pods.Items), wanted)
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Status.Phase != corev1.PodRunning && !unschedulable(pod) {
			return fmt.Errorf("pod %s/%s does not run", pod.Namespace, pod.Name)
		}
	}
	return nil
}

func unschedulable(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse &&
			condition.Reason == corev1.PodReasonUnschedulable {
			return true
		}
	}
	return false
}

// Show adds the nodes and pods that were made here to a state.
func (c *Cluster) Show(ctx context.Context, state *azuresim.State) error {
	nodes, err := c.client.CoreV1().Nodes().List(ctx, c.owned())
	if err != nil {
		return fmt.Errorf("listing the given cluster's nodes: %w", err)
	}
	pods, err := c.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, c.owned())
	if err != nil {
		return fmt.Errorf("listing the given cluster's pods: %w", err)
	}
	for i := range nodes.Items {
		state.Nodes = append(state.Nodes, azuresim.NodeStateOf(&nodes.Items[i]))
	}
	for i := range pods.Items {
		state.Pods = append(state.Pods, azuresim.PodStateOf(&pods.Items[i]))
	}
	return nil
}
