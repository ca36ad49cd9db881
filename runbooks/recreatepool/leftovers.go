package recreatepool

import (
	"context"
	"fmt"
	"strings"

	"salve/azure"
	"salve/internal/apierr"
	"salve/runbook"
)

// leftover finds the stand-in of this pool that is there, whoever made it. One
// that doesn't say whose it is might be this pool's. Where there are several, the
// first whose tags can't be believed stands for them.
func (r *recreation) leftover(cluster azure.Cluster) (azure.Pool, bool) {
	var found []azure.Pool
	for _, pool := range cluster.Pools {
		named := pool.Name == standInName(r.poolID(), "") || pool.Name == standInName(r.poolID(), "Windows")
		ours := azure.SameID(pool.Tags[sourceTag], r.poolID())
		if named || isStandIn(pool) && (ours || !r.namesAPool(pool.Tags[sourceTag])) {
			found = append(found, pool)
		}
	}
	for _, pool := range found {
		if !r.believable(pool) {
			return pool, true
		}
	}
	if len(found) == 0 {
		return azure.Pool{}, false
	}
	return found[0], true
}

// namesAPool tells whether a tag names an agent pool of this cluster.
func (r *recreation) namesAPool(source string) bool {
	prefix := strings.ToLower(azure.PoolID(r.clusterID(), ""))
	pool, found := strings.CutPrefix(strings.ToLower(source), prefix)
	return found && poolRule.MatchString(pool)
}

// believable tells whether the tags say that the pool is this pool's stand-in.
func (r *recreation) believable(pool azure.Pool) bool {
	return isStandIn(pool) && azure.SameID(pool.Tags[sourceTag], r.poolID()) && pool.Tags[runTag] != ""
}

// leftoversKnown asks whether a stand-in that is there may be dealt with. One
// whose run's journal is open is not met here: that run is resumed instead.
func (r *recreation) leftoversKnown() runbook.Guard {
	return runbook.Guard{Name: "leftovers-known", Question: "is there no stand-in, or one that is known and not in use?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			switch {
			case err != nil && apierr.ClassOf(err) == apierr.Missing:
				return runbook.Yes("no cluster, no stand-in")
			case err != nil:
				return runbook.Unknown(err)
			}
			pool, found := r.leftover(cluster)
			if !found {
				return runbook.Yes("no stand-in is left from an earlier run").WithEvidence(r.clusterEvidence(cluster))
			}
			return r.judgeLeftover(cluster, pool, run.ID())
		}}
}

func (r *recreation) judgeLeftover(cluster azure.Cluster, pool azure.Pool, run string) runbook.Finding {
	saw := runbook.NewEvidence("ARM "+azure.PoolID(cluster.ID, pool.Name), pool.ETag, cluster.Seen,
		map[string]any{"provisioningState": pool.State, "tags": pool.Tags})
	if !r.believable(pool) {
		return runbook.No("pool %q looks like the stand-in of %q, but its tags are missing or contradict that", pool.Name, r.Pool).WithEvidence(saw).
			WithOutcome(runbook.NeedsAttention)
	}
	if pool.Tags[runTag] == run {
		return runbook.Yes("stand-in %q is of this run", pool.Name).WithEvidence(saw)
	}
	origin := fmt.Sprintf("stand-in %q is left from run %s, of which no open journal is here", pool.Name, pool.Tags[runTag])
	source, found := cluster.Pool(r.Pool)
	if !found {
		return runbook.No("%s, and pool %q is gone: only its journal knows how to make it again", origin, r.Pool).WithEvidence(saw).
			WithOutcome(runbook.NeedsAttention)
	}
	switch source.State {
	case "Succeeded", "Failed", "Canceled":
		return runbook.Yes("%s; pool %q is %s: the stand-in can be removed", origin, r.Pool, source.State).WithEvidence(saw)
	case "Updating", "Upgrading", "Creating", "Deleting":
		return runbook.No("%s, and pool %q is %s: somebody may be at work", origin, r.Pool, source.State).WithEvidence(saw).WithOutcome(runbook.Deferred)
	default:
		return runbook.No("%s, and pool %q is %s", origin, r.Pool, orNothing(source.State)).WithEvidence(saw).WithOutcome(runbook.NeedsAttention)
	}
}

// clearLeftovers removes what a run left whose journal can't be found: its
// cordons and its stand-in.
func (r *recreation) clearLeftovers() runbook.Step {
	var earlier string
	step := r.removal(removal{
		name: "clear-leftovers", changes: "take back the cordons and remove the stand-in of an earlier run whose journal is not here",
		find: func(ctx context.Context, run runbook.Run) (string, bool, error) {
			cluster, err := r.cluster(ctx, run)
			if err != nil && apierr.ClassOf(err) == apierr.Missing {
				return "", false, nil
			}
			pool, found := r.leftover(cluster)
			earlier = pool.Tags[runTag]
			return pool.Name, found && earlier != run.ID(), err
		},
		cordonedBy: func() string { return earlier },
	})
	step.Preconditions = append([]runbook.Guard{r.leftoversKnown()}, step.Preconditions...)
	return step
}
