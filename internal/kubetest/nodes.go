package kubetest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AddNodes makes nodes for 250 pods each, and waits until all are Ready. They stay until the control plane ends, or
// somebody deletes them.
func (c *ControlPlane) AddNodes(ctx context.Context, names []string, labels map[string]string) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("128Gi"),
		corev1.ResourcePods: resource.MustParse("250"),
	}
	for i, name := range names {
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
			Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
		}
		for key, value := range labels {
			node.Labels[key] = value
		}
		if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("making node %d of %d: %w", i+1, len(names), err)
		}
	}
	return c.awaitNodes(ctx, names)
}

func (c *ControlPlane) awaitNodes(ctx context.Context, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, fixtureLimit)
	defer cancel()
	for _, name := range names {
		if err := c.until(ctx, "kwok", func() error { return c.nodeReady(ctx, name) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *ControlPlane) nodeReady(ctx context.Context, name string) error {
	node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %q is not Ready", name)
}
