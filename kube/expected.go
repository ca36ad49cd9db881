package kube

import (
	"context"
	"fmt"
	"strings"

	"salve/internal/apierr"
)

// ExpectedNodes is what a second source says about which nodes a selection should
// have. A list by labels alone can be empty because somebody removed a label.
type ExpectedNodes struct {
	// Source names where this is known from, for errors: "ARM", "the snapshot".
	Source string
	// Count is how many nodes the source counts now; nil when it counts none of
	// them. Only zero explains an empty list by itself: a node that never joined is
	// counted too, so a larger count than that of the list is no contradiction.
	Count *int
	// Nodes were seen earlier, with their UIDs. Each must be in the list, or be
	// known to be deleted.
	Nodes []Node
}

// VerifyNodes compares nodes that were listed by labels with what is expected. It
// fails, with class Transient, when an expected node exists but was not listed, and
// when the list is empty though nothing explains that: then the list is no basis
// for a decision about all of the nodes.
//
// A node counts as deleted by its own 404 or by a node of its name with another UID.
func (c *Cluster) VerifyNodes(ctx context.Context, nodes []Node, expected ExpectedNodes) error {
	listed := make(map[string]Node, len(nodes))
	for _, node := range nodes {
		listed[node.Name] = node
	}
	var missing []Node
	for _, node := range expected.Nodes {
		if _, ok := listed[node.Name]; !ok {
			missing = append(missing, node)
		}
	}
	unlisted := make([]bool, len(missing))
	err := Parallel(ctx, len(missing), func(ctx context.Context, i int) error {
		return c.Read(ctx, fmt.Sprintf("reading node %q", bounded(missing[i].Name)), func(ctx context.Context) error {
			found, err := c.readNode(ctx, missing[i])
			unlisted[i] = found != nil
			return err
		})
	})
	if err != nil {
		return err
	}
	var names []string
	for i, node := range missing {
		if unlisted[i] {
			names = append(names, fmt.Sprintf("%q", bounded(node.Name)))
		}
	}
	source := expected.Source
	if source == "" {
		source = "elsewhere"
	}
	switch {
	case len(names) > 0:
		return apierr.New(apierr.Transient, "unknown nodes: %s known from %s exist, but the labels do not select them",
			strings.Join(names[:min(len(names), 5)], ", "), source)
	case len(nodes) > 0 || len(expected.Nodes) > 0 || expected.Count != nil && *expected.Count == 0:
		return nil
	case expected.Count != nil:
		return apierr.New(apierr.Transient, "unknown nodes: the labels select none, %s counts %d", source, *expected.Count)
	}
	return apierr.New(apierr.Transient, "unknown nodes: the labels select none, and nothing says how many there should be")
}
