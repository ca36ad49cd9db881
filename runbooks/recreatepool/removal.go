package recreatepool

import (
	"context"
	"errors"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// removal describes a step that removes a stand-in.
type removal struct {
	name, changes string
	// find gives the stand-in's name, and false when none is there to remove.
	find func(context.Context, runbook.Run) (pool string, found bool, err error)
	// cordonedBy names an earlier run whose cordons of the source go too.
	cordonedBy func() string
}

// removeStandIn is the removal of this run's own stand-in.
func (r *recreation) removeStandIn(name, changes string) *runbook.Step {
	step := r.removal(removal{
		name: name, changes: changes,
		find: func(ctx context.Context, run runbook.Run) (string, bool, error) {
			pool, err := r.standIn(run)
			if err != nil {
				return "", false, err
			}
			definition, err := r.definition(ctx, pool)
			if err == nil && definition != nil && tagOf(definition, runTag) != run.ID() {
				err = apierr.New(apierr.Terminal, "pool %q has the name of this run's stand-in but not its tags", pool)
			}
			return pool, definition != nil, err
		},
		cordonedBy: func() string { return "" },
	})
	return &step
}

func (r *recreation) removal(what removal) runbook.Step {
	return runbook.Step{
		Name: what.name, Changes: what.changes,
		Preconditions: []runbook.Guard{r.standInDispensable(what)},
		Budget:        time.Duration(r.DrainDeadline) + 15*time.Minute,
		PermitLasts:   time.Duration(r.DrainDeadline) + 2*time.Minute,
		Inputs: func(run runbook.Run) (any, error) {
			pool, err := r.standIn(run)
			return map[string]string{"pool": pool}, err
		},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			pool, found, err := what.find(ctx, run)
			if err != nil || !found {
				if err != nil {
					return runbook.NotObserved(err)
				}
				return runbook.Done("there is no such stand-in")
			}
			return r.observeRemoval(ctx, pool)
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			pool, found, err := what.find(ctx, run)
			if err != nil || !found {
				return err
			}
			if err := r.uncordonSource(ctx, what.cordonedBy()); err != nil {
				return err
			}
			if err := r.emptyStandIn(ctx, run, pool); err != nil {
				return err
			}
			return r.deleteAsSeen(ctx, run, pool)
		},
		Await: func(ctx context.Context, run runbook.Run) error {
			pool, found, err := what.find(ctx, run)
			if err != nil || !found {
				return err
			}
			return r.awaitDeleted(ctx, run, pool)
		},
	}
}

func (r *recreation) observeRemoval(ctx context.Context, pool string) runbook.Observation {
	definition, err := r.definition(ctx, pool)
	switch {
	case err != nil:
		return runbook.NotObserved(err)
	case definition == nil:
		return runbook.Done("%s", "pool "+pool+" is gone")
	case definition.State() == "Deleting":
		return runbook.InFlight("%s", "pool "+pool+" is being deleted")
	}
	return runbook.NotStarted("pool %s is %s", pool, orNothing(definition.State()))
}

// deleteAsSeen deletes a pool under the ETag that it has now; one that is gone is
// no error.
func (r *recreation) deleteAsSeen(ctx context.Context, run runbook.Run, pool string) error {
	definition, err := r.definition(ctx, pool)
	if err != nil || definition == nil {
		return err
	}
	operation, err := r.Azure.DeletePool(ctx, r.poolName(pool), definition.ETag())
	if err != nil && apierr.ClassOf(err) == apierr.Missing {
		return nil
	}
	if err != nil {
		return err
	}
	return noteOperation(ctx, run, operation)
}

// emptyStandIn drains the stand-in's nodes. Problems are warnings: the deletion
// that follows drains too.
func (r *recreation) emptyStandIn(ctx context.Context, run runbook.Run, pool string) error {
	nodes, err := r.nodes(ctx, pool)
	if err != nil {
		return run.Warn(ctx, "the nodes of stand-in %s can't be seen, so they were not drained: %v", pool, err)
	}
	drained, err := r.drainNodes(ctx, run, nodes)
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		return errors.Join(runbook.PermitFrom(ctx).Authorize(ctx), run.Warn(ctx, "draining stand-in %s: %v", pool, err))
	case !drained.Complete():
		return run.Warn(ctx, "stand-in %s could not be drained in time: %s", pool, drained.Blockers())
	}
	return nil
}

// standInDispensable asks whether the cluster keeps a system pool that serves
// when the stand-in goes.
func (r *recreation) standInDispensable(what removal) runbook.Guard {
	return runbook.Guard{Name: "stand-in-dispensable", Question: "does another system pool serve, so that the stand-in can go?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				if apierr.ClassOf(err) == apierr.Missing {
					return runbook.Yes("no cluster, no stand-in")
				}
				return runbook.Unknown(err)
			}
			pool, found, err := what.find(ctx, run)
			switch {
			case err != nil:
				return runbook.Unknown(err)
			case !found:
				return runbook.Yes("there is no such stand-in")
			}
			return r.judgeDispensable(ctx, cluster, pool, what.cordonedBy())
		}}
}

func (r *recreation) judgeDispensable(ctx context.Context, cluster azure.Cluster, standIn, cordonedBy string) runbook.Finding {
	own, err := r.nodes(ctx, standIn)
	if err != nil {
		return runbook.Unknown(err)
	}
	for _, pool := range cluster.Pools {
		if pool.Name == standIn || pool.Mode != "System" || pool.State == "Deleting" {
			continue
		}
		nodes, err := r.nodes(ctx, pool.Name)
		if err != nil {
			return runbook.Unknown(err)
		}
		if count := availableAfter(nodes, cordonedBy); count > 0 {
			saw := runbook.NewEvidence("nodes of pool "+pool.Name, pool.ETag, r.Clock.Now(), map[string]int{"available": count})
			return runbook.Yes("system pool %q has %d nodes that serve", pool.Name, count).WithEvidence(saw)
		}
	}
	if of, _ := cluster.Pool(standIn); of.Mode != "System" || serving(own) == 0 {
		return runbook.Yes("no system pod relies on the stand-in")
	}
	return runbook.No("no other system pool has a node that serves: the stand-in stays").WithOutcome(runbook.NeedsAttention)
}

// availableAfter counts the nodes that serve once a run's cordons are taken back.
func availableAfter(nodes []kube.Node, cordonedBy string) int {
	count := 0
	for _, node := range nodes {
		node.Unschedulable = node.Unschedulable && (cordonedBy == "" || node.CordonedBy != cordonedBy)
		if node.Serving() {
			count++
		}
	}
	return count
}
