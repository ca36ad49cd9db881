package recreatepool

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"salve/runbook"
)

func (r *recreation) clusterExists() runbook.Guard {
	guard := ask(r.Inputs, "cluster-exists", "does ARM return the managed cluster?", r.readAny, clusterExists)
	guard.NotOverridable = true
	return guard
}

func clusterExists(seen reading) runbook.Finding {
	if seen.Absent != nil {
		return runbook.No("cluster %q not found in resource group %q", seen.Cluster, seen.ResourceGroup)
	}
	return runbook.Yes("the cluster is there").WithEvidence(seen.clusterEvidence())
}

func clusterRecoverable(seen reading) runbook.Finding {
	return inState("the cluster", seen.AKS.State, "Succeeded", "Canceled", "Failed", "Updating", "Upgrading").
		WithEvidence(seen.clusterEvidence())
}

// inState holds in the wanted states, and is deferred while the thing is being created.
func inState(what, state string, wanted ...string) runbook.Finding {
	finding := runbook.No("%s is %s", what, orNone(state))
	switch {
	case slices.Contains(wanted, state):
		return runbook.Yes("%s is %s", what, state)
	case state == "Creating":
		return finding.WithOutcome(runbook.Deferred)
	}
	return finding
}

func otherPoolsServing(seen reading) runbook.Finding {
	if _, found := seen.source(); !found && !seen.Deleted {
		return poolMissing(seen)
	}
	var evidence []runbook.Evidence
	for _, pool := range seen.AKS.Pools {
		if pool.Name == seen.Pool || isStandIn(pool) {
			continue
		}
		evidence = append(evidence, seen.poolEvidence(pool))
		if pool.Count <= 0 {
			return runbook.No("pool %q has no nodes", pool.Name).WithEvidence(evidence...)
		}
	}
	return runbook.Yes("each of the %d other pools has nodes", len(evidence)).WithEvidence(evidence...)
}

// poolMissing is the finding on a target that is not there though this run did not delete it: who
// did is not for a program to guess.
func poolMissing(seen reading) runbook.Finding {
	var names []string
	for _, other := range seen.AKS.Pools {
		names = append(names, other.Name)
	}
	slices.Sort(names)
	return runbook.No("pool %q not found, and this run did not delete it; the cluster has: %s", seen.Pool,
		strings.Join(names, ", ")).
		WithEvidence(seen.clusterEvidence()).WithOutcome(runbook.NeedsAttention).NotOverridable()
}

// poolWedged holds when the pool's last operation failed or does not end. AKS reports a wedged
// update as Updating for days, so Updating holds too: how old the operation is, settle-cluster and
// snapshot ask.
func poolWedged(seen reading) runbook.Finding {
	pool, found := seen.source()
	if !found {
		return poolMissing(seen)
	}
	return inState(fmt.Sprintf("pool %q", pool.Name), pool.State, "Failed", "Canceled", "Updating", "Upgrading").
		WithEvidence(seen.poolEvidence(pool))
}

// sourcePresent holds when the pool is there whose stand-in is taken back. One that is absent
// before this run asked for its deletion is a question.
func sourcePresent(seen reading) runbook.Finding {
	pool, found := seen.source()
	if !found {
		return poolMissing(seen)
	}
	return runbook.Yes("pool %q is there", pool.Name).WithEvidence(seen.poolEvidence(pool))
}

func poolMatchesSnapshot(seen comparison) runbook.Finding {
	if seen.Current == nil {
		return runbook.No("the pool is absent")
	}
	finding := runbook.Yes("the pool equals the snapshot and is Succeeded")
	switch state := seen.Current.State(); {
	case len(seen.Different) > 0:
		finding = runbook.No("the pool differs from the snapshot in %s", strings.Join(seen.Different, "; "))
	case state != "Succeeded":
		finding = runbook.No("the pool is %s", orNone(state))
	}
	return finding.WithEvidence(runbook.NewEvidence("ARM pool", seen.Current.ETag(), seen.Now, seen.Current))
}

func (r *recreation) nodesReady() runbook.Guard {
	question := "has the pool the nodes that it must have, Ready and schedulable?"
	return ask(r.Inputs, "nodes-ready", question, r.readNew(func(reading) string { return r.Pool }), nodesReady)
}

func nodesReady(seen withNodes) runbook.Finding {
	all, ready, wanted := len(seen.Nodes), serving(seen.Nodes), seen.Before.MinCount
	finding := runbook.No("%d of %d nodes are Ready and schedulable", ready, wanted).WithOutcome(runbook.NeedsAttention)
	switch {
	case ready >= wanted:
		finding = runbook.Yes("%d nodes are Ready and schedulable", ready)
	case all < wanted:
		finding = runbook.Unknownf("%d new nodes of pool %q are to be seen, it must have %d", all, seen.Pool, wanted)
	}
	return finding.WithEvidence(seen.nodesEvidence(seen.Pool))
}

func noStandInLeft(seen reading) runbook.Finding {
	pool := leftover(seen)
	_, listed := seen.source()
	finding := runbook.Yes("no stand-in is left")
	switch {
	case pool.Name != "":
		finding = runbook.No("stand-in %q is still there, %s", pool.Name, pool.State)
	case !listed:
		finding = runbook.Unknownf("the cluster's answer does not list pool %q, so it may lack the stand-in too", seen.Pool)
	}
	return finding.WithEvidence(seen.clusterEvidence())
}

// nodesAsFound compares who is cordoned: the nodes of other pools as before, and none of the new
// ones by us.
func nodesAsFound(seen asFound) runbook.Finding {
	before := map[types.UID]bool{}
	for _, node := range seen.NodesBefore {
		before[node.UID] = node.Unschedulable
	}
	for _, node := range seen.Cordoned {
		was, known := before[node.UID]
		if node.CordonedBy == seen.Run || known && node.Unschedulable && !was {
			return runbook.No("node %q is cordoned and was not", node.Name)
		}
	}
	return runbook.Yes("none of %d nodes is cordoned that was not", seen.Count)
}

func clusterSucceeded(seen reading) runbook.Finding {
	state, failed := seen.AKS.State, otherFailures(seen.AKS, seen.Pool)
	finding := runbook.No("the cluster is %s", orNone(state))
	switch {
	case state == "Succeeded":
		finding = runbook.Yes("the cluster is Succeeded")
	case len(failed) > 0 && !operating(state):
		finding = runbook.Yes("the cluster is %s because of %s, not of this pool", orNone(state), strings.Join(failed, ", "))
	}
	return finding.WithEvidence(seen.clusterEvidence())
}
