package recreatepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// nodeSelector selects the nodes of a pool by the label that AKS sets
// (https://learn.microsoft.com/azure/aks/use-labels#reserved-system-labels).
func nodeSelector(pool string) string { return "kubernetes.azure.com/agentpool=" + pool }

// nodes lists the nodes of a pool; of all pools for an empty name.
func (rd *reader) nodes(pool string) (nodes []kube.Node) {
	selector := ""
	if pool != "" {
		selector = nodeSelector(pool)
	}
	cluster := rd.kubernetes()
	rd.attempt(func() (err error) {
		nodes, err = cluster.Nodes(rd.ctx, selector)
		return err
	})
	return nodes
}

// nodesAsExpected lists the nodes of a pool and compares them with what else is
// known. A list that lacks a node which exists, or is empty without explanation, is an
// error: nothing follows from it.
func (rd *reader) nodesAsExpected(pool string, expected kube.ExpectedNodes) []kube.Node {
	nodes, cluster := rd.nodes(pool), rd.kubernetes()
	rd.attempt(func() error { return cluster.VerifyNodes(rd.ctx, nodes, expected) })
	return nodes
}

// sourceNodes are the nodes of the pool that is recreated, and what they were
// compared with: the snapshot and ARM.
func (rd *reader) sourceNodes() ([]kube.Node, *kube.ExpectedNodes) {
	expected := kube.ExpectedNodes{Source: "the snapshot", Nodes: rd.snapshot().PoolNodes}
	if pool, found := rd.cluster().Pool(rd.Pool); found {
		expected.Count = &pool.Count
	}
	return rd.nodesAsExpected(rd.Pool, expected), &expected
}

// awaitNodes watches a pool's nodes until enough of those that are new since the
// snapshot serve.
func (rd *reader) awaitNodes(pool string, wanted int) error {
	taken, cluster := rd.snapshot(), rd.kubernetes()
	if rd.err != nil {
		return rd.err
	}
	ready := 0
	err := cluster.AwaitNodes(rd.ctx, nodeSelector(pool), func(nodes []kube.Node) bool {
		ready = serving(newSince(taken, nodes))
		rd.run.Report(runbook.Progress{Text: fmt.Sprintf("pool %s: %d of %d nodes Ready", pool, ready, wanted)})
		return ready >= wanted
	})
	seen := fmt.Sprintf("pool %q has %d of %d nodes Ready and schedulable", pool, ready, wanted)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return apierr.New(apierr.Transient, "%s", seen)
	case err != nil:
		return fmt.Errorf("%s: %w", seen, err)
	}
	return nil
}

// serving counts the nodes on which pods can be placed and run.
func serving(nodes []kube.Node) int {
	count := 0
	for _, node := range nodes {
		if node.Serving() {
			count++
		}
	}
	return count
}

// newSince leaves out the nodes that were there when the snapshot was taken: labels
// can be moved, a node's UID can't.
func newSince(taken snapshot, nodes []kube.Node) []kube.Node {
	known := map[types.UID]bool{}
	for _, node := range slices.Concat(taken.PoolNodes, taken.OtherNodes) {
		known[node.UID] = true
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(node kube.Node) bool { return known[node.UID] })
}

// splitNodes tells the nodes of a pool from those of others. A pool's nodes have its
// label, and are named after their scale set with six characters for the instance: a
// node of which only the name says so has lost its label, and the list of the others
// can't be relied on.
func splitNodes(all, labelled []kube.Node, scaleSets []string) (own, others []kube.Node, err error) {
	const instance = 6
	for _, node := range all {
		same := func(n kube.Node) bool { return n.UID == node.UID }
		after := func(set string) bool {
			return len(node.Name) == len(set)+instance && strings.HasPrefix(strings.ToLower(node.Name), strings.ToLower(set))
		}
		switch {
		case slices.ContainsFunc(labelled, same):
			own = append(own, node)
		case slices.ContainsFunc(scaleSets, after):
			return nil, nil, apierr.New(apierr.Transient,
				"unknown nodes: %q is named after the pool's scale set but lacks the pool's label", node.Name)
		default:
			others = append(others, node)
		}
	}
	return own, others, nil
}
