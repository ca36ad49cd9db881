package recreatepool

import (
	"context"
	"errors"
	"slices"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// removal describes a step that removes a stand-in.
type removal struct {
	name, changes string
	// which gives the stand-in's pool and the run that made it; no pool when there
	// is none to remove.
	which func(*reader) (pool, madeBy string)
	// preconditions come before that of all removals, stand-in-dispensable.
	preconditions []runbook.Guard
	// uncordons: the cordons that the run of the stand-in made on the source go too.
	uncordons bool
}

// removeStandIn is the removal of this run's own stand-in.
func (r *recreation) removeStandIn(name, changes string, preconditions ...runbook.Guard) *runbook.Step {
	step := r.removal(removal{
		name: name, changes: changes, preconditions: preconditions,
		which: func(rd *reader) (string, string) { return rd.standIn().name, rd.run.ID() },
	})
	return &step
}

func (r *recreation) removal(what removal) runbook.Step {
	preconditions := append(slices.Clone(what.preconditions), r.standInDispensable(what))
	return runbook.Step{
		Name: what.name, Changes: what.changes, Preconditions: preconditions,
		Budget:      time.Duration(r.DrainDeadline) + 15*time.Minute,
		PermitLasts: time.Duration(r.DrainDeadline) + 2*time.Minute,
		Inputs:      r.standInInputs(func(own standIn) any { return map[string]string{"pool": own.name} }),
		Observe:     observe(r, func(rd *reader) removable { return rd.find(what) }, removed),
		Apply: r.do(func(rd *reader) error {
			found := rd.find(what)
			if rd.err != nil || found.definition == nil {
				return rd.err
			}
			if what.uncordons {
				if err := rd.uncordonFor(found.madeBy); err != nil {
					return err
				}
			}
			if err := rd.emptyStandIn(found.pool, preconditions); err != nil {
				return err
			}
			return rd.deleteStandIn(what)
		}),
		Await: r.do(func(rd *reader) error {
			pool, _ := what.which(rd)
			if rd.err != nil || pool == "" {
				return rd.err
			}
			return rd.awaitDeleted(pool)
		}),
	}
}

// removable is a stand-in that is to go. Without a definition it is gone.
type removable struct {
	pool, madeBy string
	definition   azure.Definition
}

// find reads the stand-in. It fails when the pool of that name is a stranger's.
func (rd *reader) find(what removal) removable {
	pool, madeBy := what.which(rd)
	if pool == "" {
		return removable{}
	}
	return removable{pool, madeBy, rd.standInOf(pool, madeBy)}
}

func removed(seen removable) runbook.Observation {
	switch {
	case seen.pool == "":
		return runbook.Done("there is no such stand-in")
	case seen.definition == nil:
		return runbook.Done("pool %s is gone", seen.pool)
	case seen.definition.State() == "Deleting":
		return runbook.InFlight("pool %s is being deleted", seen.pool)
	}
	return runbook.NotStarted("pool %s is %s", seen.pool, orNone(seen.definition.State()))
}

// deleteStandIn deletes a stand-in under the ETag with which its tags were read.
// One that is gone is no error.
func (rd *reader) deleteStandIn(what removal) error {
	found := rd.find(what)
	if found.definition == nil {
		return rd.err
	}
	err := rd.start(func() (*azure.Operation, error) {
		return rd.Azure.DeletePool(rd.ctx, rd.poolName(found.pool), found.definition.ETag())
	})
	if apierr.ClassOf(err) == apierr.Missing {
		return nil
	}
	return err
}

// uncordonFor takes back the cordons that another run made on the source's nodes.
func (rd *reader) uncordonFor(run string) error {
	pool, _ := rd.cluster().Pool(rd.Pool)
	nodes := rd.nodesAsExpected(rd.Pool, kube.ExpectedNodes{Source: "ARM", Count: &pool.Count})
	return rd.uncordon(slices.DeleteFunc(nodes, func(node kube.Node) bool { return node.CordonedBy != run }))
}

// emptyStandIn drains the stand-in's nodes, and tells whether what the removal depends
// on holds still. Other problems are warnings: the deletion that follows drains too.
func (rd *reader) emptyStandIn(pool string, preconditions []runbook.Guard) error {
	drain := *rd
	nodes := drain.nodes(pool)
	left, err := drain.empty(nodes, nil, preconditions)
	switch {
	case context.Cause(rd.ctx) != nil:
		return context.Cause(rd.ctx)
	case err != nil:
		err = rd.run.Warn(rd.ctx, "draining stand-in %s: %v", pool, err)
	case !left.Complete():
		err = rd.run.Warn(rd.ctx, "stand-in %s could not be drained in time: %s", pool, left.Blockers())
	}
	return errors.Join(runbook.PermitFrom(rd.ctx).Authorize(rd.ctx), err, hold(rd.ctx, rd.run, preconditions))
}
