package recreatepool

import (
	"maps"
	"slices"
	"time"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

// dispensability is what tells whether the cluster keeps a system pool that serves
// when a stand-in goes.
type dispensability struct {
	cluster azure.Cluster
	standIn removable
	// nodes are those of each system pool and of the stand-in, without the cordons
	// that go with it.
	nodes map[string][]kube.Node
	now   time.Time
}

func (r *recreation) standInDispensable(what removal) runbook.Guard {
	read := func(rd *reader) (seen dispensability) {
		if rd.arm().absent != nil {
			return seen
		}
		seen = dispensability{cluster: rd.cluster(), standIn: rd.find(what), nodes: map[string][]kube.Node{},
			now: rd.Clock.Now()}
		if seen.standIn.definition == nil {
			return seen
		}
		for _, pool := range seen.cluster.Pools {
			if pool.Mode == "System" || pool.Name == seen.standIn.pool {
				seen.nodes[pool.Name] = rd.nodes(pool.Name)
			}
			if what.uncordons {
				withoutCordonsOf(seen.standIn.madeBy, seen.nodes[pool.Name])
			}
		}
		return seen
	}
	return ask(r, "stand-in-dispensable", "does another system pool serve, so that the stand-in can go?", read,
		standInDispensable)
}

// withoutCordonsOf changes nodes to what they will be when a run's cordons are taken back.
func withoutCordonsOf(run string, nodes []kube.Node) {
	for i := range nodes {
		if nodes[i].CordonedBy == run {
			nodes[i].Unschedulable = false
		}
	}
}

func standInDispensable(seen dispensability) runbook.Finding {
	if seen.standIn.definition == nil {
		return runbook.Yes("there is no such stand-in")
	}
	for _, name := range slices.Sorted(maps.Keys(seen.nodes)) {
		pool, _ := seen.cluster.Pool(name)
		if count := serving(seen.nodes[name]); name != seen.standIn.pool && pool.State != "Deleting" && count > 0 {
			saw := runbook.NewEvidence("nodes of pool "+name, pool.ETag, seen.now, map[string]int{"available": count})
			return runbook.Yes("system pool %q has %d nodes that serve", name, count).WithEvidence(saw)
		}
	}
	own, listed := seen.cluster.Pool(seen.standIn.pool)
	nodes := seen.nodes[own.Name]
	switch {
	case listed && own.Mode != "System":
		return runbook.Yes("the stand-in is no system pool")
	case serving(nodes) > 0 || !listed:
		return runbook.No("no other system pool has a node that serves: the stand-in stays").
			WithOutcome(runbook.NeedsAttention)
	case len(nodes) < own.Count:
		return runbook.Unknownf("only %d of the stand-in's %d nodes are to be seen: the others may serve", len(nodes),
			own.Count)
	}
	return runbook.Yes("none of the stand-in's %d nodes serves", len(nodes))
}

// sourcePresent asks whether the pool whose stand-in is taken back is there. One that
// is absent before this run asked for its deletion is a question.
func (r *recreation) sourcePresent() runbook.Guard {
	return r.ofCluster("source-present", "is the pool there, so that its stand-in can go?", sourcePresent)
}

func sourcePresent(c azure.Cluster, name string) runbook.Finding {
	pool, found := c.Pool(name)
	if !found {
		return poolMissing(c, name)
	}
	return runbook.Yes("pool %q is there", name).WithEvidence(poolEvidence(c, pool))
}
