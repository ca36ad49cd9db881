package recreatepool

import (
	"slices"
	"strings"

	"salve/azure"
	"salve/runbook"
)

func (r *recreation) clusterExists() runbook.Guard {
	decide := func(seen armReading) runbook.Finding {
		if seen.absent != nil {
			return runbook.No("cluster %q not found in resource group %q", r.Cluster, r.ResourceGroup)
		}
		return runbook.Yes("the cluster is there").WithEvidence(clusterEvidence(seen.Cluster))
	}
	guard := ask(r, "cluster-exists", "does ARM return the managed cluster?", (*reader).arm, decide)
	guard.NotOverridable = true
	return guard
}

// ofCluster makes a guard that is decided from the cluster and the pool's name alone.
func (r *recreation) ofCluster(
	name, question string, decide func(azure.Cluster, string) runbook.Finding,
) runbook.Guard {
	return ask(r, name, question, (*reader).cluster, func(c azure.Cluster) runbook.Finding { return decide(c, r.Pool) })
}

func (r *recreation) clusterRecoverable() runbook.Guard {
	return r.ofCluster("cluster-recoverable", "is the cluster in a state that recovery can start from?",
		clusterRecoverable)
}

func clusterRecoverable(c azure.Cluster, _ string) runbook.Finding {
	saw := clusterEvidence(c)
	switch c.State {
	case "Succeeded", "Canceled", "Failed", "Updating", "Upgrading":
		return runbook.Yes("the cluster is %s", c.State).WithEvidence(saw)
	case "Creating":
		return runbook.No("the cluster is still being created").WithEvidence(saw).WithOutcome(runbook.Deferred)
	}
	return runbook.No("the cluster is %s", orNone(c.State)).WithEvidence(saw)
}

// others is what tells whether the pools beside the target serve, and whether the
// target may be missing.
type others struct {
	azure.Cluster
	target string
	// deleted: this run asked for the target's deletion.
	deleted bool
}

func (r *recreation) otherPoolsServing() runbook.Guard {
	read := func(rd *reader) others { return others{rd.cluster(), r.Pool, rd.deletedByUs()} }
	return ask(r, "other-pools-serving", "does the pool exist, and has every other pool nodes?", read, otherPoolsServing)
}

func otherPoolsServing(seen others) runbook.Finding {
	if _, found := seen.Pool(seen.target); !found && !seen.deleted {
		return poolMissing(seen.Cluster, seen.target)
	}
	var evidence []runbook.Evidence
	for _, pool := range seen.Pools {
		if pool.Name == seen.target || isStandIn(pool) {
			continue
		}
		evidence = append(evidence, poolEvidence(seen.Cluster, pool))
		if pool.Count <= 0 {
			return runbook.No("pool %q has no nodes", pool.Name).WithEvidence(evidence...)
		}
	}
	return runbook.Yes("each of the %d other pools has nodes", len(evidence)).WithEvidence(evidence...)
}

// poolMissing is the finding on a target that is not there though this run did not
// delete it: who did is not for a program to guess.
func poolMissing(c azure.Cluster, pool string) runbook.Finding {
	var names []string
	for _, other := range c.Pools {
		names = append(names, other.Name)
	}
	slices.Sort(names)
	all := strings.Join(names, ", ")
	return runbook.No("pool %q not found, and this run did not delete it; the cluster has: %s", pool, all).
		WithEvidence(clusterEvidence(c)).WithOutcome(runbook.NeedsAttention).NotOverridable()
}

func (r *recreation) poolWedged() runbook.Guard {
	return r.ofCluster("pool-wedged", "has the pool's last operation failed, or does it not come to an end?", poolWedged)
}

// poolWedged holds when the pool's last operation failed or does not end. AKS reports
// a wedged update as Updating for days, so Updating holds too: how old the operation
// is, settle-cluster and snapshot ask.
func poolWedged(c azure.Cluster, name string) runbook.Finding {
	pool, found := c.Pool(name)
	if !found {
		return poolMissing(c, name)
	}
	saw := poolEvidence(c, pool)
	switch pool.State {
	case "Failed", "Canceled", "Updating", "Upgrading":
		return runbook.Yes("pool %q is %s", name, pool.State).WithEvidence(saw)
	case "Creating":
		return runbook.No("pool %q is still being created", name).WithEvidence(saw).WithOutcome(runbook.Deferred)
	}
	return runbook.No("pool %q is %s", name, orNone(pool.State)).WithEvidence(saw)
}
