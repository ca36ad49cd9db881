package recreatepool

import (
	"context"
	"slices"
	"strings"

	"salve/azure"
	"salve/internal/apierr"
	"salve/runbook"
)

func (r *recreation) clusterExists() runbook.Guard {
	return runbook.Guard{Name: "cluster-exists", NotOverridable: true, Question: "does ARM return the managed cluster?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			switch {
			case apierr.ClassOf(err) == apierr.Missing && err != nil:
				return runbook.No("there is no cluster %q in resource group %q", r.Cluster, r.ResourceGroup)
			case err != nil:
				return runbook.Unknown(err)
			}
			return runbook.Yes("the cluster is there").WithEvidence(r.clusterEvidence(cluster))
		}}
}

func (r *recreation) clusterEvidence(cluster azure.Cluster) runbook.Evidence {
	return runbook.NewEvidence("ARM "+cluster.ID, cluster.ETag, cluster.Seen, map[string]string{"provisioningState": cluster.State})
}

func (r *recreation) poolEvidence(cluster azure.Cluster, pool azure.Pool) runbook.Evidence {
	return runbook.NewEvidence("ARM "+azure.PoolID(cluster.ID, pool.Name), pool.ETag, cluster.Seen,
		map[string]any{"provisioningState": pool.State, "count": pool.Count})
}

func (r *recreation) clusterRecoverable() runbook.Guard {
	return runbook.Guard{Name: "cluster-recoverable", Question: "is the cluster in a state that recovery can start from?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return runbook.Unknown(err)
			}
			return recoverable(cluster.State, r.clusterEvidence(cluster))
		}}
}

func recoverable(state string, evidence runbook.Evidence) runbook.Finding {
	switch state {
	case "Succeeded", "Canceled", "Failed", "Updating", "Upgrading":
		return runbook.Yes("the cluster is %s", state).WithEvidence(evidence)
	case "Creating":
		return runbook.No("the cluster is still being created").WithEvidence(evidence).WithOutcome(runbook.Deferred)
	default:
		return runbook.No("the cluster's state is %q", state).WithEvidence(evidence)
	}
}

func (r *recreation) otherPoolsServing() runbook.Guard {
	return runbook.Guard{Name: "other-pools-serving", Question: "does the pool exist, and has every other pool nodes?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return runbook.Unknown(err)
			}
			deleted, err := r.deletedByUs(run)
			if err != nil {
				return runbook.Unknown(err)
			}
			return r.judgeOthers(cluster, deleted)
		}}
}

func (r *recreation) judgeOthers(cluster azure.Cluster, deleted bool) runbook.Finding {
	if _, found := cluster.Pool(r.Pool); !found && !deleted {
		return runbook.No("there is no pool %q; the cluster has: %s", r.Pool, names(cluster.Pools)).WithEvidence(r.clusterEvidence(cluster)).
			WithOutcome(runbook.NeedsAttention).NotOverridable()
	}
	var evidence []runbook.Evidence
	for _, pool := range cluster.Pools {
		if pool.Name == r.Pool || isStandIn(pool) {
			continue
		}
		evidence = append(evidence, r.poolEvidence(cluster, pool))
		if pool.Count <= 0 {
			return runbook.No("pool %q has no nodes", pool.Name).WithEvidence(evidence...)
		}
	}
	return runbook.Yes("each of the %d other pools has nodes", len(evidence)).WithEvidence(evidence...)
}

func names(pools []azure.Pool) string {
	var all []string
	for _, pool := range pools {
		all = append(all, pool.Name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func (r *recreation) poolWedged() runbook.Guard {
	return runbook.Guard{Name: "pool-wedged", Question: "has the pool's last operation failed, or does it not come to an end?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return runbook.Unknown(err)
			}
			pool, found := cluster.Pool(r.Pool)
			if !found {
				return runbook.No("there is no pool %q", r.Pool).WithEvidence(r.clusterEvidence(cluster)).WithOutcome(runbook.NeedsAttention).NotOverridable()
			}
			return wedged(pool, r.poolEvidence(cluster, pool))
		}}
}

func wedged(pool azure.Pool, evidence runbook.Evidence) runbook.Finding {
	switch pool.State {
	case "Failed", "Canceled", "Updating", "Upgrading":
		return runbook.Yes("pool %q is %s", pool.Name, pool.State).WithEvidence(evidence)
	case "Creating":
		return runbook.No("pool %q is still being created", pool.Name).WithEvidence(evidence).WithOutcome(runbook.Deferred)
	default:
		return runbook.No("pool %q is %s", pool.Name, orNothing(pool.State)).WithEvidence(evidence)
	}
}

func orNothing(state string) string {
	if state == "" {
		return "without a state"
	}
	return state
}

func (r *recreation) wedgeEvidence() runbook.Guard {
	return runbook.Guard{Name: "wedge-evidence", Question: "is the pool's scale set corrupted: do its writes fail, or has a machine no IP configuration?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return runbook.Unknown(err)
			}
			sets, err := r.Azure.ScaleSets(ctx, cluster.NodeResourceGroup, r.Pool)
			switch {
			case err != nil:
				return runbook.Unknown(err)
			case len(sets) == 0:
				return runbook.Unknownf("no scale set in %q carries pool %q in its tag", cluster.NodeResourceGroup, r.Pool)
			}
			storm := r.writeStorm(ctx, run, cluster.NodeResourceGroup, sets)
			if storm.Answer == runbook.AnswerHolds {
				return r.withDiagnosis(ctx, runbook.Any(storm))
			}
			return r.withDiagnosis(ctx, runbook.Any(storm, r.emptyIPConfig(ctx, cluster.NodeResourceGroup, sets)))
		}}
}

// withDiagnosis adds how many nodes are Ready. It gates nothing: a wedged upgrade
// can still have all its nodes.
func (r *recreation) withDiagnosis(ctx context.Context, finding runbook.Finding) runbook.Finding {
	diagnosis := map[string]any{"seen": false}
	if nodes, err := r.nodes(ctx, r.Pool); err == nil {
		ready := 0
		for _, node := range nodes {
			if node.Ready {
				ready++
			}
		}
		diagnosis = map[string]any{"nodes": len(nodes), "ready": ready}
	}
	finding.Evidence = append(finding.Evidence, runbook.NewEvidence("diagnosis: nodes of pool "+r.Pool, "", r.Clock.Now(), diagnosis))
	return finding
}
