package kube

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// CordonedBy is the annotation that names the run which cordoned a node.
const CordonedBy = "salve-cordoned-by"

// Node is one reading of a node.
type Node struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
	// Ready is the node's own Ready condition.
	Ready bool `json:"ready"`
	// Unschedulable nodes are cordoned, by whomever.
	Unschedulable bool `json:"unschedulable,omitempty"`
	// CordonedBy names the run that cordoned the node; empty when no run did.
	CordonedBy string `json:"cordonedBy,omitempty"`
	Deleting   bool   `json:"deleting,omitempty"`
	version    string
}

// Serving tells whether pods can be placed on the node and run there.
func (n Node) Serving() bool { return n.Ready && !n.Unschedulable && !n.Deleting }

func nodeOf(node *corev1.Node) Node {
	seen := Node{
		Name: node.Name, UID: node.UID, Unschedulable: node.Spec.Unschedulable,
		CordonedBy: node.Annotations[CordonedBy], Deleting: node.DeletionTimestamp != nil, version: node.ResourceVersion,
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			seen.Ready = condition.Status == corev1.ConditionTrue
		}
	}
	return seen
}

// Nodes lists the nodes that match a label selector; all for an empty one.
func (c *Cluster) Nodes(ctx context.Context, selector string) ([]Node, error) {
	var nodes []Node
	err := c.Read(ctx, fmt.Sprintf("listing nodes (%s)", selector), func(ctx context.Context) error {
		list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		nodes = make([]Node, 0, len(list.Items))
		for i := range list.Items {
			nodes = append(nodes, nodeOf(&list.Items[i]))
		}
		return nil
	})
	return nodes, err
}

// cordonRounds bounds how often a cordon is tried anew because the node changed
// between reading and writing.
const cordonRounds = 8

// Cordon makes nodes unschedulable, some at a time, and marks them with the run. A
// node that somebody else cordoned is left as it is, unmarked; one that is gone is
// no error.
func (c *Cluster) Cordon(ctx context.Context, nodes ...Node) error {
	return Parallel(ctx, len(nodes), func(ctx context.Context, i int) error { return c.cordon(ctx, nodes[i]) })
}

func (c *Cluster) cordon(ctx context.Context, node Node) error {
	return c.rewrite(ctx, node, "cordoning", func(seen Node) map[string]any {
		if seen.Unschedulable {
			return nil
		}
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{CordonedBy: runbook.PermitFrom(ctx).Run()}},
			"spec":     map[string]any{"unschedulable": true},
		}
	})
}

// Uncordon takes back the cordon of a run, and no other.
func (c *Cluster) Uncordon(ctx context.Context, node Node, run string) error {
	return c.rewrite(ctx, node, "uncordoning", func(seen Node) map[string]any {
		if run == "" || seen.CordonedBy != run {
			return nil
		}
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{CordonedBy: nil}},
			"spec":     map[string]any{"unschedulable": nil},
		}
	})
}

// rewrite patches a node under the precondition that it is the one that was
// read; when it changed meanwhile it is read and judged again.
func (c *Cluster) rewrite(ctx context.Context, node Node, doing string, edit func(Node) map[string]any) error {
	seen := node
	for range cordonRounds {
		patch := edit(seen)
		if patch == nil {
			return nil
		}
		err := c.patchNode(ctx, seen, patch)
		if err == nil || apierr.ClassOf(err) == apierr.Missing {
			return nil
		}
		if apierr.ClassOf(err) != apierr.Conflict {
			return fmt.Errorf("%s node %q: %w", doing, node.Name, err)
		}
		var fresh *corev1.Node
		err = backoff.Once(ctx, c.Clock, func(ctx context.Context) error {
			var err error
			fresh, err = c.Client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
			return err
		})
		switch class := apierr.ClassOf(Classify(err)); {
		case err != nil && class == apierr.Missing:
			return nil
		case err != nil:
			return fmt.Errorf("%s node %q: %w", doing, node.Name, Classify(err))
		case fresh.UID != node.UID:
			return nil // another machine of that name: not the one that was meant
		}
		seen = nodeOf(fresh)
	}
	return apierr.New(apierr.Conflict, "%s node %q: it changed %d times while it was tried", doing, node.Name, cordonRounds)
}

func (c *Cluster) patchNode(ctx context.Context, seen Node, patch map[string]any) error {
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	metadata := patch["metadata"].(map[string]any)
	metadata["uid"], metadata["resourceVersion"] = seen.UID, seen.version
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return Classify(backoff.Once(ctx, c.Clock, func(ctx context.Context) error {
		_, err := c.Client.CoreV1().Nodes().Patch(ctx, seen.Name, types.MergePatchType, raw, metav1.PatchOptions{FieldManager: "salve"})
		return err
	}))
}
