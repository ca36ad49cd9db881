package recreatepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

// reconcileTag carries the time of the tag merge that settles the cluster.
const reconcileTag = "salve-reconciled"

func (r *recreation) retireStandIn() runbook.Step {
	step := *r.removeStandIn("retire-stand-in", "drain and delete the stand-in pool")
	step.Guards = []string{"cluster-exists"}
	step.Preconditions = append(step.Preconditions, r.nodesReady())
	return step
}

func (r *recreation) reconcileCluster() runbook.Step {
	return runbook.Step{
		Name:    "reconcile-cluster",
		Changes: "merge a tag with a fresh timestamp into the cluster, so that AKS moves it to Succeeded",
		Guards:  []string{"cluster-exists"},
		Budget:  15 * time.Minute,
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			cluster, err := r.cluster(ctx, run)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case cluster.State == "Succeeded":
				return runbook.Done("the cluster is Succeeded")
			case underWay(cluster.State):
				return runbook.InFlight("the cluster is %s", cluster.State)
			}
			return runbook.NotStarted("the cluster is %s", orNothing(cluster.State))
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return err
			}
			return r.Azure.MergeTag(ctx, cluster.ID, reconcileTag, r.Clock.Now().UTC().Format(time.RFC3339))
		},
		Await: r.awaitReconciled,
	}
}

// reconcileShows is how long it may take until a tag merge shows in the cluster.
const reconcileShows = 2 * time.Minute

// awaitReconciled waits until the cluster is Succeeded. While another pool is
// wedged AKS can't get it there: that is said, and left to that pool's own run.
func (r *recreation) awaitReconciled(ctx context.Context, run runbook.Run) error {
	began := r.Clock.Now()
	var unwell []string
	err := r.awaitCluster(ctx, run, func(cluster azure.Cluster) bool {
		unwell = r.othersUnwell(cluster)
		waited := !underWay(cluster.State) && r.Clock.Since(began) >= reconcileShows
		return cluster.State == "Succeeded" || waited && len(unwell) > 0
	})
	if err == nil && len(unwell) > 0 {
		return run.Warn(ctx, "the cluster is not Succeeded because of %s, which this run is not about", strings.Join(unwell, ", "))
	}
	return err
}

// othersUnwell names the other pools because of which a cluster can't be
// Succeeded.
func (r *recreation) othersUnwell(cluster azure.Cluster) []string {
	if cluster.State == "Succeeded" {
		return nil
	}
	var unwell []string
	for _, pool := range cluster.Pools {
		if pool.Name != r.Pool && (pool.State == "Failed" || pool.State == "Canceled") {
			unwell = append(unwell, fmt.Sprintf("pool %s (%s)", pool.Name, pool.State))
		}
	}
	return unwell
}

// check is a guard that compares the end with the snapshot.
func (r *recreation) check(name, asks string, judge func(context.Context, runbook.Run, azure.Cluster, snapshot) runbook.Finding) runbook.Guard {
	return runbook.Guard{Name: name, Question: asks, Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
		cluster, err := r.cluster(ctx, run)
		if err != nil {
			return runbook.Unknown(err)
		}
		taken, err := mustRecall(run)
		if err != nil {
			return runbook.Unknown(err)
		}
		return judge(ctx, run, cluster, taken)
	}}
}

func (r *recreation) poolMatchesSnapshot() runbook.Guard {
	return r.check("pool-matches-snapshot", "is the pool as the snapshot says, field by field?",
		func(ctx context.Context, _ runbook.Run, _ azure.Cluster, taken snapshot) runbook.Finding {
			now, err := r.Azure.Definition(ctx, r.poolName(r.Pool))
			if err != nil {
				return runbook.Unknown(err)
			}
			saw := runbook.NewEvidence("ARM pool "+r.Pool, now.ETag(), r.Clock.Now(), now)
			different, err := taken.Definition.Differences(now)
			switch {
			case err != nil:
				return runbook.Unknown(err).WithEvidence(saw)
			case len(different) > 0:
				return runbook.No("the pool differs from the snapshot in %s", strings.Join(different, "; ")).WithEvidence(saw)
			case now.State() != "Succeeded":
				return runbook.No("the pool is %s", orNothing(now.State())).WithEvidence(saw)
			}
			return runbook.Yes("the pool equals the snapshot and is Succeeded").WithEvidence(saw)
		})
}

func (r *recreation) nodesReady() runbook.Guard {
	return r.check("nodes-ready", "has the pool the nodes that it must have, Ready and schedulable?",
		func(ctx context.Context, _ runbook.Run, _ azure.Cluster, taken snapshot) runbook.Finding {
			nodes, err := r.nodes(ctx, r.Pool)
			if err != nil {
				return runbook.Unknown(err)
			}
			wanted, err := nodesWanted(taken.Definition)
			if err != nil {
				return runbook.Unknown(err)
			}
			saw := runbook.NewEvidence("nodes of pool "+r.Pool, "", r.Clock.Now(), map[string]int{"nodes": len(nodes), "serving": serving(nodes)})
			if serving(nodes) < wanted {
				return runbook.No("%d of %d nodes are Ready and schedulable", serving(nodes), wanted).WithEvidence(saw).WithOutcome(runbook.NeedsAttention)
			}
			return runbook.Yes("%d nodes are Ready and schedulable", serving(nodes)).WithEvidence(saw)
		})
}

func (r *recreation) noStandInLeft() runbook.Guard {
	return r.check("no-stand-in-left", "is the stand-in gone?",
		func(_ context.Context, _ runbook.Run, cluster azure.Cluster, _ snapshot) runbook.Finding {
			if pool, found := r.leftover(cluster); found {
				return runbook.No("stand-in %q is still there, %s", pool.Name, pool.State).WithEvidence(r.clusterEvidence(cluster))
			}
			return runbook.Yes("no stand-in is left").WithEvidence(r.clusterEvidence(cluster))
		})
}

// nodesAsFound compares who is cordoned: the nodes of other pools as before, and
// none of the new ones by us.
func (r *recreation) nodesAsFound() runbook.Guard {
	return r.check("nodes-as-found", "is every node as schedulable as it was before?",
		func(ctx context.Context, run runbook.Run, _ azure.Cluster, taken snapshot) runbook.Finding {
			nodes, err := r.nodes(ctx, "")
			if err != nil {
				return runbook.Unknown(err)
			}
			before := map[string]kube.Node{}
			for _, node := range taken.Nodes {
				before[string(node.UID)] = node
			}
			for _, node := range nodes {
				was, known := before[string(node.UID)]
				if node.CordonedBy == run.ID() || known && node.Unschedulable && !was.Unschedulable {
					return runbook.No("node %q is cordoned and was not", node.Name)
				}
			}
			return runbook.Yes("none of %d nodes is cordoned that was not", len(nodes))
		})
}

func (r *recreation) clusterSucceeded() runbook.Guard {
	return r.check("cluster-succeeded", "is the cluster Succeeded, or kept from it by another pool only?",
		func(_ context.Context, _ runbook.Run, cluster azure.Cluster, _ snapshot) runbook.Finding {
			if unwell := r.othersUnwell(cluster); len(unwell) > 0 && !underWay(cluster.State) {
				return runbook.Yes("the cluster is %s because of %s, not of this pool", orNothing(cluster.State), strings.Join(unwell, ", ")).WithEvidence(r.clusterEvidence(cluster))
			}
			if cluster.State != "Succeeded" {
				return runbook.No("the cluster is %s", orNothing(cluster.State)).WithEvidence(r.clusterEvidence(cluster))
			}
			return runbook.Yes("the cluster is Succeeded").WithEvidence(r.clusterEvidence(cluster))
		})
}
