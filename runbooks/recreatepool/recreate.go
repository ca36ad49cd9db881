package recreatepool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/runbook"
)

func (r *recreation) recreate() runbook.Step {
	return runbook.Step{
		Name:    "recreate",
		Changes: fmt.Sprintf("create pool %s again from the snapshot, and wait for its nodes", r.Pool),
		Guards:  guardsWithoutPool(),
		Budget:  25 * time.Minute,
		Observe: observe(r, (*reader).recreated, func(seen recreated) runbook.Observation {
			return poolRecreated(seen,
				r.Pool)
		}),
		Apply: r.do(func(rd *reader) error {
			seen, body := rd.recreated(), rd.replacement(func(map[string]any) {})
			if at := poolRecreated(seen, rd.Pool); rd.err == nil && at.State != runbook.StateNotStarted {
				return apierr.New(apierr.Conflict, "conflict: %s", at.Reason)
			}
			return rd.put(rd.Pool, seen.definition, body)
		}),
		Await: r.do((*reader).awaitReplacement),
	}
}

// recreated is what tells how far the new pool is.
type recreated struct {
	definition azure.Definition
	// different names what it has otherwise than the snapshot.
	different []string
	// pending: the result of an operation of ours on it is not known yet.
	pending bool
}

func (rd *reader) recreated() (seen recreated) {
	if seen.definition = rd.definition(rd.Pool); seen.definition == nil {
		return seen
	}
	taken := rd.snapshot()
	rd.attempt(func() (err error) {
		seen.different, err = taken.Definition.Differences(seen.definition)
		return err
	})
	seen.pending = rd.resultPending()
	return seen
}

func poolRecreated(seen recreated, pool string) runbook.Observation {
	if seen.definition == nil {
		return runbook.NotStarted("pool %s not found", pool)
	}
	state := seen.definition.State()
	switch {
	case len(seen.different) > 0 || state == "Deleting":
		different := strings.Join(seen.different, "; ")
		return runbook.Undecidable(fmt.Sprintf("Who is changing pool %q? It is %s and differs from the snapshot: %s.", pool,
			state, different),
			"pool %s is %s and not as the snapshot says: %s", pool, state, different)
	case seen.pending:
		return runbook.InFlight("pool %s is %s; its operation knows more", pool, state)
	case state == "Failed" || state == "Canceled":
		return runbook.NotStarted("pool %s is %s", pool, state)
	}
	return runbook.InFlight("pool %s is %s", pool, state)
}

// awaitReplacement waits until the pool is there, on a scale set of its own, with
// as many nodes as it must have.
func (rd *reader) awaitReplacement() error {
	if err := rd.awaitCreated(rd.Pool); err != nil {
		return err
	}
	taken, sets := rd.snapshot(), rd.scaleSets()
	for _, set := range sets {
		if slices.Contains(taken.ScaleSets, set.Name) {
			return apierr.New(apierr.Terminal, "the new pool is on the old scale set %s: the corruption is still there",
				set.Name)
		}
	}
	return rd.awaitNodes(rd.Pool, rd.nodesWanted())
}

// recreatedByUs is a precondition of retiring the stand-in: the pool is there, and it
// was this run that deleted it and made it again. A record that lacks either, as one
// that was cut does, is a question.
func (r *recreation) recreatedByUs() runbook.Guard {
	read := func(rd *reader) exchange {
		return exchange{
			cluster: rd.cluster(), pool: r.Pool, deleted: rd.deletedByUs() && rd.run.Step("delete-pool").Done,
			recreated: rd.run.Step("recreate").Done,
		}
	}
	return ask(r, "recreated-by-us", "is the pool there again, by this run's doing?", read, recreatedByUs)
}

// exchange is what the record says of the pool's deletion and recreation, beside what
// ARM says.
type exchange struct {
	cluster            azure.Cluster
	pool               string
	deleted, recreated bool
}

func recreatedByUs(seen exchange) runbook.Finding {
	pool, found := seen.cluster.Pool(seen.pool)
	switch {
	case !found:
		return runbook.No("pool %q not found: who deleted it? The stand-in stays", seen.pool).
			WithEvidence(clusterEvidence(seen.cluster)).WithOutcome(runbook.NeedsAttention)
	case !seen.deleted || !seen.recreated:
		return runbook.No("the record does not hold that this run deleted pool %q and made it again: who did? "+
			"The stand-in stays", seen.pool).
			WithEvidence(poolEvidence(seen.cluster, pool)).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("pool %q is there again", seen.pool).WithEvidence(poolEvidence(seen.cluster, pool))
}

func (r *recreation) retireStandIn() runbook.Step {
	step := *r.removeStandIn("retire-stand-in", "drain and delete the stand-in pool", r.recreatedByUs(), r.nodesReady())
	step.Guards = []string{"cluster-exists"}
	return step
}
