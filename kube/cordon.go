package kube

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// maxConflicts bounds how often a patch is tried because the node changed between
// reading and writing.
const maxConflicts = 8

// Cordon makes nodes unschedulable, some in parallel, and marks them with the run. A
// node that somebody else cordoned is left as it is, unmarked; one that is deleted
// is no error.
func (c *Cluster) Cordon(ctx context.Context, nodes ...Node) error {
	return Parallel(ctx, len(nodes), func(ctx context.Context, i int) error { return c.cordon(ctx, nodes[i]) })
}

func (c *Cluster) cordon(ctx context.Context, node Node) error {
	return c.patchUntilCurrent(ctx, node, "cordoning", func(seen Node) map[string]any {
		if seen.Unschedulable {
			return nil
		}
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{CordonedBy: runbook.PermitFrom(ctx).Run()}},
			"spec":     map[string]any{"unschedulable": true},
		}
	})
}

// Uncordon takes back the cordons that a run made on nodes, and no others, some in
// parallel.
func (c *Cluster) Uncordon(ctx context.Context, run string, nodes ...Node) error {
	return Parallel(ctx, len(nodes), func(ctx context.Context, i int) error { return c.uncordon(ctx, run, nodes[i]) })
}

func (c *Cluster) uncordon(ctx context.Context, run string, node Node) error {
	return c.patchUntilCurrent(ctx, node, "uncordoning", func(seen Node) map[string]any {
		if run == "" || seen.CordonedBy != run {
			return nil
		}
		return map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{CordonedBy: nil}},
			"spec":     map[string]any{"unschedulable": nil},
		}
	})
}

// patchUntilCurrent patches a node under the precondition that it is as it was read.
// When it changed in between it is read again, and edit decides again.
func (c *Cluster) patchUntilCurrent(
	ctx context.Context, node Node, doing string, edit func(Node) map[string]any,
) error {
	if node.UID == "" {
		return apierr.New(apierr.Terminal, "%s node %q: required UID not set", doing, node.Name)
	}
	seen := &node
	for range maxConflicts {
		if seen.version == "" { // of a snapshot: without a resourceVersion a patch has no precondition
			var err error
			if seen, err = c.rereadNode(ctx, node); err != nil {
				return fmt.Errorf("%s node %q: %w", doing, node.Name, err)
			}
		}
		if seen == nil {
			return nil
		}
		patch := edit(*seen)
		if patch == nil {
			return nil
		}
		err := c.patchNode(ctx, *seen, patch)
		if err == nil || isAbsent(err, "nodes", node.Name) {
			return nil
		}
		if apierr.ClassOf(err) != apierr.Conflict {
			return fmt.Errorf("%s node %q: %w", doing, node.Name, notAbsence("the node", err))
		}
		seen.version = ""
	}
	return apierr.New(apierr.Conflict, "conflict: %s node %q: it changed during each of %d attempts", doing, node.Name,
		maxConflicts)
}

func (c *Cluster) rereadNode(ctx context.Context, node Node) (fresh *Node, _ error) {
	err := backoff.Once(ctx, c.Clock, func(ctx context.Context) (err error) {
		fresh, err = c.readNode(ctx, node)
		return err
	})
	return fresh, err
}

// readNode reads a node again; nil when it was deleted, even if another machine has
// its name now.
func (c *Cluster) readNode(ctx context.Context, node Node) (*Node, error) {
	found, err := c.Client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
	switch {
	case isAbsent(err, "nodes", node.Name):
		return nil, nil
	case err != nil:
		return nil, notAbsence(fmt.Sprintf("node %q", bounded(node.Name)), err)
	case found.Name != node.Name:
		return nil, wrongObject("node", node.Name, bounded(found.Name))
	case node.UID != "" && found.UID != node.UID:
		return nil, nil
	}
	fresh := nodeOf(found)
	return &fresh, nil
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
		_, err := c.Client.CoreV1().Nodes().Patch(ctx, seen.Name, types.MergePatchType, raw,
			metav1.PatchOptions{FieldManager: "salve"})
		return err
	}))
}
