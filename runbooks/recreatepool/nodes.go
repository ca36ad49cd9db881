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

// withNodes is a reading with nodes as they are now.
type withNodes struct {
	reading
	api   *kube.Cluster `json:"-"`
	Nodes []kube.Node   `json:"nodes"`
	// expected is what the nodes were compared with; nil when nothing else is known.
	expected *kube.ExpectedNodes `json:"-"`
}

// nodeSelector selects the nodes of a pool by the label that AKS sets
// (https://learn.microsoft.com/azure/aks/use-labels#reserved-system-labels).
func nodeSelector(pool string) string { return "kubernetes.azure.com/agentpool=" + pool }

// withNodes lists nodes. A list that lacks a node which is expected, or is empty without
// explanation, is an error: nothing follows from it.
func (r *recreation) withNodes(
	ctx context.Context, seen reading, selector string, expected *kube.ExpectedNodes,
) (withNodes, error) {
	api, err := r.Kubernetes(ctx)
	if err != nil {
		return withNodes{}, err
	}
	nodes, err := api.Nodes(ctx, selector)
	if err == nil && expected != nil {
		err = api.VerifyNodes(ctx, nodes, *expected)
	}
	return withNodes{seen, api, nodes, expected}, err
}

// readSource reads the nodes of the pool that is recreated, and compares them with the snapshot and
// ARM.
func (r *recreation) readSource(ctx context.Context, run runbook.Run) (withNodes, error) {
	seen, err := r.readTaken(ctx, run)
	if err != nil {
		return withNodes{}, err
	}
	expected := &kube.ExpectedNodes{Source: "the snapshot", Nodes: seen.taken.PoolNodes}
	if pool, found := seen.source(); found {
		expected.Count = &pool.Count
	}
	return r.withNodes(ctx, seen, nodeSelector(r.Pool), expected)
}

// asFound is what tells who is cordoned and was not. A cluster has thousands of nodes: those that nobody cordoned are
// only counted.
type asFound struct {
	reading
	Count int `json:"count"`
	// Cordoned are cordoned, by whomever, or have the mark of a run; NodesBefore are those of them that the snapshot has
	// of other pools, as they were.
	Cordoned    []kube.Node `json:"cordoned"`
	NodesBefore []kube.Node `json:"nodesBefore"`
}

// readOthers reads all nodes, and compares them with those of other pools in the snapshot.
func (r *recreation) readOthers(ctx context.Context, run runbook.Run) (asFound, error) {
	seen, err := r.readTaken(ctx, run)
	if err != nil {
		return asFound{}, err
	}
	all, err := r.withNodes(ctx, seen, "", &kube.ExpectedNodes{Source: "the snapshot", Nodes: seen.taken.OtherNodes})
	return asFoundOf(seen, all.Nodes), err
}

func asFoundOf(seen reading, nodes []kube.Node) asFound {
	found, cordoned := asFound{reading: seen, Count: len(nodes)}, map[types.UID]bool{}
	for _, node := range nodes {
		if node.Unschedulable || node.CordonedBy != "" {
			found.Cordoned, cordoned[node.UID] = append(found.Cordoned, node), true
		}
	}
	for _, node := range seen.taken.OtherNodes {
		if cordoned[node.UID] {
			found.NodesBefore = append(found.NodesBefore, node)
		}
	}
	return found
}

// readNew reads those nodes of a pool that are new since the snapshot.
func (r *recreation) readNew(pool func(reading) string) func(context.Context, runbook.Run) (withNodes, error) {
	return func(ctx context.Context, run runbook.Run) (withNodes, error) {
		seen, err := r.readTaken(ctx, run)
		if err != nil {
			return withNodes{}, err
		}
		all, err := r.withNodes(ctx, seen, nodeSelector(pool(seen)), nil)
		all.Nodes = seen.taken.newSince(all.Nodes)
		return all, err
	}
}

func (s withNodes) nodesEvidence(pool string) runbook.Evidence {
	return runbook.NewEvidence("nodes of pool "+pool, "", s.Now,
		map[string]int{"nodes": len(s.Nodes), "serving": serving(s.Nodes)})
}

// awaitNodes watches a pool's nodes until enough of those that are new since the snapshot serve.
func (r *recreation) awaitNodes(ctx context.Context, run runbook.Run, taken *snapshot, pool string, wanted int) error {
	api, err := r.Kubernetes(ctx)
	if err != nil {
		return err
	}
	var fresh []kube.Node
	ready := 0
	err = api.AwaitNodes(ctx, nodeSelector(pool), func(nodes []kube.Node) bool {
		fresh = taken.newSince(nodes)
		ready = serving(fresh)
		run.Report(runbook.Progress{
			Text:  fmt.Sprintf("pool %s: %d nodes Ready, of at least %d", pool, ready, wanted),
			Pools: r.poolNodes(pool, ready, max(wanted, len(fresh))),
		})
		return ready >= wanted
	})
	seen := fmt.Sprintf("pool %q has %d of %d nodes Ready and schedulable", pool, ready, wanted)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return apierr.New(apierr.Transient, "timed out: %s%s", seen, r.missingNodes(ctx, pool, fresh))
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

// newSince leaves out the nodes that were there when the snapshot was taken: labels can be moved, a
// node's UID can't.
func (s snapshot) newSince(nodes []kube.Node) []kube.Node {
	known := map[types.UID]bool{}
	for _, node := range slices.Concat(s.PoolNodes, s.OtherNodes) {
		known[node.UID] = true
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(node kube.Node) bool { return known[node.UID] })
}

// splitNodes tells the nodes of a pool from those of others. A pool's nodes have its label, and are
// named after their scale set with six characters for the instance: a node of which only the name
// says so has lost its label, and the list of the others can't be relied on.
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
