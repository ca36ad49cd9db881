package recreatepool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"salve/azure"
	"salve/runbook"
)

func (r *recreation) addStandIn() runbook.Step {
	return runbook.Step{
		Name: "add-stand-in",
		Changes: "create a stand-in pool like " + r.Pool + " and wait for its nodes; " +
			"if it is a system pool that quota refuses at that size, once more with one node",
		Guards:        allGuards(),
		Preconditions: []runbook.Guard{r.leftoversKnown()},
		Budget:        20 * time.Minute,
		Inputs:        r.standInInputs(func(own standIn) any { return map[string]any{"pool": own.name, "count": own.size} }),
		Observe:       observe(r, (*reader).addition, standInAdded),
		Apply: r.do(func(rd *reader) error {
			own := rd.standIn()
			return rd.put(own.name, rd.standInOf(own.name, rd.run.ID()), rd.standInBody(own.size))
		}),
		Await: r.do(func(rd *reader) error {
			own := rd.standIn()
			if err := rd.awaitCreated(own.name); err != nil {
				return err
			}
			return rd.awaitNodes(own.name, own.size)
		}),
		RetryWith: r.reduceStandIn,
		Rollback:  r.removeStandIn("remove-stand-in", "remove the stand-in pool", r.sourcePresent()),
	}
}

// standInInputs gives a step's inputs: what is planned for the stand-in.
func (r *recreation) standInInputs(show func(standIn) any) func(runbook.Run) (any, error) {
	return func(run runbook.Run) (any, error) {
		rd := &reader{recreation: r, run: run}
		own := rd.standIn()
		return show(own), rd.err
	}
}

// reduceStandIn has a stand-in that quota refused tried once more with one node.
func (r *recreation) reduceStandIn(ctx context.Context, run runbook.Run, refused error) (bool, error) {
	rd := &reader{recreation: r, ctx: ctx, run: run}
	own := rd.standIn()
	if rd.err != nil || own.size <= 1 || !own.system || !azure.RefusedByQuota(refused) {
		return false, rd.err
	}
	if err := run.Warn(ctx, "quota refuses a stand-in of %d nodes; trying one node", own.size); err != nil {
		return false, err
	}
	return true, run.Note(ctx, reducedNote, true)
}

// addition is what tells how far the stand-in of this run is.
type addition struct {
	name       string
	definition azure.Definition
	// pending: the result of an operation of ours on it is not known yet.
	pending bool
}

// addition fails when the pool of the stand-in's name is another run's.
func (rd *reader) addition() addition {
	name := rd.standIn().name
	return addition{name, rd.standInOf(name, rd.run.ID()), rd.resultPending()}
}

func standInAdded(seen addition) runbook.Observation {
	if seen.definition == nil {
		return runbook.NotStarted("pool %s not found", seen.name)
	}
	switch state := seen.definition.State(); {
	case state == "Deleting":
		return runbook.Undecidable(fmt.Sprintf("Who is deleting pool %q, this run's stand-in?", seen.name),
			"somebody is deleting the stand-in")
	case (state == "Failed" || state == "Canceled") && seen.pending:
		return runbook.InFlight("the stand-in is %s; its operation knows why", state)
	case state == "Failed" || state == "Canceled":
		return runbook.NotStarted("the stand-in is %s", state)
	default:
		return runbook.InFlight("the stand-in is %s", orNone(state))
	}
}

// standInBody is the sanitized snapshot with the autoscaler cleared, the size of
// the stand-in, and tags that say what it is.
func (rd *reader) standInBody(size int) azure.Definition {
	return rd.replacement(func(properties map[string]any) {
		for _, autoscaler := range []string{"enableAutoScaling", "minCount", "maxCount"} {
			delete(properties, autoscaler)
		}
		properties["count"] = json.Number(fmt.Sprint(size))
		tags, _ := properties["tags"].(map[string]any)
		if tags == nil {
			tags = map[string]any{}
			properties["tags"] = tags
		}
		tags[purposeTag], tags[sourceTag], tags[runTag] = purpose, rd.poolID(), rd.run.ID()
	})
}
