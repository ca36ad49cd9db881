package recreatepool

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

func (r *recreation) poolMatchesSnapshot() runbook.Guard {
	read := func(rd *reader) kept { return kept{rd.snapshot(), rd.definition(rd.Pool), rd.Clock.Now()} }
	return ask(r, "pool-matches-snapshot", "is the pool as the snapshot says, field by field?", read, poolMatchesSnapshot)
}

func poolMatchesSnapshot(seen kept) runbook.Finding {
	if seen.current == nil {
		return runbook.No("the pool is absent")
	}
	saw := runbook.NewEvidence("ARM pool", seen.current.ETag(), seen.now, seen.current)
	different, err := seen.taken.Definition.Differences(seen.current)
	switch {
	case err != nil:
		return runbook.Unknown(err).WithEvidence(saw)
	case len(different) > 0:
		return runbook.No("the pool differs from the snapshot in %s", strings.Join(different, "; ")).WithEvidence(saw)
	case seen.current.State() != "Succeeded":
		return runbook.No("the pool is %s", orNone(seen.current.State())).WithEvidence(saw)
	}
	return runbook.Yes("the pool equals the snapshot and is Succeeded").WithEvidence(saw)
}

// newNodes are the nodes of the recreated pool that are new since the snapshot.
type newNodes struct {
	pool   string
	wanted int
	nodes  []kube.Node
	now    time.Time
}

// nodesReady is a check, and a precondition of retiring the stand-in.
func (r *recreation) nodesReady() runbook.Guard {
	read := func(rd *reader) newNodes {
		return newNodes{r.Pool, rd.nodesWanted(), newSince(rd.snapshot(), rd.nodes(r.Pool)), rd.Clock.Now()}
	}
	return ask(r, "nodes-ready", "has the pool the nodes that it must have, Ready and schedulable?", read, nodesReady)
}

func nodesReady(seen newNodes) runbook.Finding {
	ready := serving(seen.nodes)
	saw := runbook.NewEvidence("nodes of pool "+seen.pool, "", seen.now, map[string]int{"nodes": len(seen.nodes),
		"serving": ready})
	switch {
	case ready >= seen.wanted:
		return runbook.Yes("%d nodes are Ready and schedulable", ready).WithEvidence(saw)
	case len(seen.nodes) < seen.wanted:
		return runbook.Unknownf("%d new nodes of pool %q are to be seen, it must have %d", len(seen.nodes), seen.pool,
			seen.wanted).WithEvidence(saw)
	}
	return runbook.No("%d of %d nodes are Ready and schedulable", ready, seen.wanted).WithEvidence(saw).
		WithOutcome(runbook.NeedsAttention)
}

func (r *recreation) noStandInLeft() runbook.Guard {
	return r.ofCluster("no-stand-in-left", "is the stand-in gone?", func(c azure.Cluster, _ string) runbook.Finding {
		return noStandInLeft(c, r.Inputs)
	})
}

func noStandInLeft(c azure.Cluster, in Inputs) runbook.Finding {
	pool, left := leftover(c, in)
	_, listed := c.Pool(in.Pool)
	switch {
	case left:
		return runbook.No("stand-in %q is still there, %s", pool.Name, pool.State).WithEvidence(clusterEvidence(c))
	case !listed:
		return runbook.Unknownf("the cluster's answer does not list pool %q, so it may lack the stand-in too", in.Pool).
			WithEvidence(clusterEvidence(c))
	}
	return runbook.Yes("no stand-in is left").WithEvidence(clusterEvidence(c))
}

// cordons is who is cordoned now, beside who was.
type cordons struct {
	taken snapshot
	nodes []kube.Node
	run   string
}

func (r *recreation) nodesAsFound() runbook.Guard {
	read := func(rd *reader) cordons {
		taken := rd.snapshot()
		nodes := rd.nodesAsExpected("", kube.ExpectedNodes{Source: "the snapshot", Nodes: taken.OtherNodes})
		return cordons{taken, nodes, rd.run.ID()}
	}
	return ask(r, "nodes-as-found", "is every node as schedulable as it was before?", read, nodesAsFound)
}

// nodesAsFound compares who is cordoned: the nodes of other pools as before, and
// none of the new ones by us.
func nodesAsFound(seen cordons) runbook.Finding {
	before := map[types.UID]bool{}
	for _, node := range seen.taken.OtherNodes {
		before[node.UID] = node.Unschedulable
	}
	for _, node := range seen.nodes {
		was, known := before[node.UID]
		if node.CordonedBy == seen.run || known && node.Unschedulable && !was {
			return runbook.No("node %q is cordoned and was not", node.Name)
		}
	}
	return runbook.Yes("none of %d nodes is cordoned that was not", len(seen.nodes))
}

func (r *recreation) clusterSucceeded() runbook.Guard {
	return r.ofCluster("cluster-succeeded", "is the cluster Succeeded, or kept from it by another pool only?",
		clusterSucceeded)
}

func clusterSucceeded(c azure.Cluster, target string) runbook.Finding {
	saw := clusterEvidence(c)
	failed := otherFailures(c, target)
	switch {
	case c.State == "Succeeded":
		return runbook.Yes("the cluster is Succeeded").WithEvidence(saw)
	case len(failed) > 0 && !operating(c.State):
		return runbook.Yes("the cluster is %s because of %s, not of this pool", orNone(c.State), strings.Join(failed, ", ")).
			WithEvidence(saw)
	}
	return runbook.No("the cluster is %s", orNone(c.State)).WithEvidence(saw)
}
