package recreatepool

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// removal describes a step that removes a stand-in.
type removal struct {
	*recreation
	// which gives the stand-in's pool and the run that made it; no pool when there is none to
	// remove.
	which func(reading) (pool, madeBy string)
	// preconditions come before that of all removals, stand-in-dispensable.
	preconditions []runbook.Guard
}

// ownStandIn is the removal of this run's own stand-in.
func (r *recreation) ownStandIn(preconditions ...runbook.Guard) removal {
	own := func(seen reading) (string, string) { return standInOf(seen), seen.Run }
	return removal{recreation: r, which: own, preconditions: preconditions}
}

func (m removal) step(name, changes string) runbook.Step {
	m.preconditions = append(slices.Clone(m.preconditions), ask(m.Inputs, "stand-in-dispensable",
		"does another system pool serve, so that the stand-in can go?", m.readSystem, standInDispensable))
	return runbook.Step{
		Name: name, Changes: changes, Preconditions: m.preconditions,
		Budget: m.drainDeadline() + 15*time.Minute, PermitLasts: m.drainDeadline() + 2*time.Minute,
		Inputs: func(run runbook.Run) (any, error) {
			seen, err := m.recall(run)
			pool, _ := m.which(seen)
			return map[string]string{"pool": pool}, err
		},
		Observe: runbook.Observe(m.read, removed),
		Apply:   runbook.Act(m.read, m.remove),
		Await: runbook.Act(m.readAny, func(ctx context.Context, run runbook.Run, seen reading) error {
			pool, _ := m.which(seen)
			if pool == "" {
				return nil
			}
			return m.awaitDeleted(ctx, run, pool)
		}),
	}
}

func (m removal) read(ctx context.Context, run runbook.Run) (standInPool, error) {
	seen, err := m.readAny(ctx, run)
	pool, madeBy := m.which(seen)
	if err != nil || pool == "" {
		return standInPool{reading: seen}, err
	}
	return m.standInPool(ctx, seen, pool, madeBy)
}

func removed(seen standInPool) runbook.Observation {
	switch {
	case seen.Name == "":
		return runbook.Done("there is no such stand-in")
	case seen.Definition == nil:
		return runbook.Done("pool %s is gone", seen.Name)
	case seen.Definition.State() == "Deleting":
		return runbook.InFlight("pool %s is being deleted", seen.Name)
	}
	return runbook.NotStarted("pool %s is %s", seen.Name, orNone(seen.Definition.State()))
}

// remove drains the stand-in and deletes it under the ETag with which its tags were read
// afterwards. One that is gone is no error.
func (m removal) remove(ctx context.Context, run runbook.Run, seen standInPool) error {
	if seen.Definition == nil {
		return nil
	}
	if err := m.uncordon(ctx, seen); err != nil {
		return err
	}
	blocked, err := m.drain(ctx, run, seen)
	if err != nil {
		return err
	}
	seen, err = m.read(ctx, run)
	if err != nil || seen.Definition == nil {
		return err
	}
	operation, err := m.Azure.DeletePool(ctx, m.poolName(seen.Name), seen.Definition.ETag(),
		azure.DeletePoolOptions{IgnoreBudgets: blocked})
	switch {
	case apierr.ClassOf(err) == apierr.Missing:
		return nil
	case err != nil:
		return err
	}
	return operation.Note(ctx, run)
}

// uncordon takes back the cordons that another run made on the source's nodes. Those of this run
// are its drain's to take back.
func (m removal) uncordon(ctx context.Context, seen standInPool) error {
	if seen.MadeBy == seen.Run {
		return nil
	}
	source, _ := seen.source()
	expected := &kube.ExpectedNodes{Source: "ARM", Count: &source.Count}
	nodes, err := m.withNodes(ctx, seen.reading, nodeSelector(m.Pool), expected)
	if err != nil {
		return err
	}
	return nodes.api.Uncordon(ctx, seen.MadeBy, nodes.Nodes...)
}

// drain empties the stand-in's nodes, and tells whether what the removal depends on holds still. It is blocked where an
// override has the pods deleted that can't be evicted. Other problems are warnings: the deletion that follows drains
// too.
func (m removal) drain(ctx context.Context, run runbook.Run, seen standInPool) (blocked bool, _ error) {
	nodes, err := m.withNodes(ctx, seen.reading, nodeSelector(seen.Name), nil)
	var left kube.DrainResult
	if err == nil {
		left, err = m.empty(ctx, run, seen.Name, nodes, m.preconditions)
	}
	by := blockedBy(left)
	switch {
	case context.Cause(ctx) != nil:
		return false, context.Cause(ctx)
	case err != nil:
		err = run.Warn(ctx, "draining stand-in %s: %v", seen.Name, err)
	case by != nil:
		err = m.blocked(ctx, run, seen.Name, *by)
		blocked = err == nil
	case !left.Complete():
		err = run.Warn(ctx, "pods of stand-in %s are still ending: %s", seen.Name, left.Blockers())
	}
	return blocked, errors.Join(runbook.PermitFrom(ctx).Authorize(ctx), err, hold(ctx, run, m.preconditions))
}

// others is what tells whether the cluster keeps a system pool that serves when a stand-in goes.
type others struct {
	standInPool
	// Own are the stand-in's nodes, and System those of the other system pools, without the cordons
	// that go with the stand-in.
	Own    []kube.Node            `json:"own"`
	System map[string][]kube.Node `json:"system"`
}

func (m removal) readSystem(ctx context.Context, run runbook.Run) (others, error) {
	standIn, err := m.read(ctx, run)
	seen := others{standInPool: standIn, System: map[string][]kube.Node{}}
	if err != nil || standIn.Definition == nil {
		return seen, err
	}
	for _, pool := range seen.AKS.Pools {
		if pool.Mode != "System" && pool.Name != seen.Name {
			continue
		}
		of, err := m.withNodes(ctx, seen.reading, nodeSelector(pool.Name), nil)
		if err != nil {
			return seen, err
		}
		for i, node := range of.Nodes {
			if seen.MadeBy != seen.Run && node.CordonedBy == seen.MadeBy {
				of.Nodes[i].Unschedulable = false
			}
		}
		switch {
		case pool.Name == seen.Name:
			seen.Own = of.Nodes
		case pool.State != "Deleting":
			seen.System[pool.Name] = of.Nodes
		}
	}
	return seen, nil
}

func standInDispensable(seen others) runbook.Finding {
	if seen.Definition == nil {
		return runbook.Yes("there is no such stand-in")
	}
	for _, name := range slices.Sorted(maps.Keys(seen.System)) {
		if count := serving(seen.System[name]); count > 0 {
			return runbook.Yes("system pool %q has %d nodes that serve", name, count).
				WithEvidence(runbook.NewEvidence("nodes of pool "+name, "", seen.Now, map[string]int{"serving": count}))
		}
	}
	pool, listed := seen.AKS.Pool(seen.Name)
	switch {
	case listed && pool.Mode != "System":
		return runbook.Yes("the stand-in is no system pool")
	case serving(seen.Own) > 0 || !listed:
		return runbook.No("no other system pool has a node that serves: the stand-in stays").
			WithOutcome(runbook.NeedsAttention)
	case len(seen.Own) < pool.Count:
		return runbook.Unknownf("only %d of the stand-in's %d nodes are to be seen: the others may serve",
			len(seen.Own), pool.Count)
	}
	return runbook.Yes("none of the stand-in's %d nodes serves", len(seen.Own))
}
