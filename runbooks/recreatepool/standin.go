package recreatepool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"salve/azure"
	"salve/runbook"
)

// Tags of a stand-in.
const (
	purposeTag = "purpose"
	purpose    = "salve-stand-in"
	sourceTag  = "salve-source"
	runTag     = "salve-run"
)

// reducedNote keeps that quota forced a stand-in of one node.
const reducedNote = "stand-in-reduced"

func isStandIn(pool azure.Pool) bool { return pool.Tags[purposeTag] == purpose }

// whose compares tags with those that a run gives its stand-in of a pool.
func (in Inputs) whose(tags map[string]string, run string) bool {
	return tags[purposeTag] == purpose && run != "" && tags[runTag] == run && azure.SameID(tags[sourceTag], in.poolID())
}

// standInName derives the stand-in's name from the source pool's resource ID: the same source has
// the same stand-in, whoever asks. AKS allows 12 characters, and 6 for Windows
// (https://learn.microsoft.com/azure/aks/create-node-pools#limitations).
func standInName(poolID, osType string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(poolID)))
	text := "s" + new(big.Int).SetBytes(sum[:]).Text(36)
	if strings.EqualFold(osType, "Windows") {
		return text[:6]
	}
	return text[:12]
}

// standIn derives the stand-in that the run makes from the snapshot, or before there is one from
// what ARM lists of the source. Nothing of it is taken from the record as it is.
func (s reading) standIn() azure.Pool {
	source, _ := s.source()
	if s.Before != nil {
		source = *s.Before
	}
	size := source.Count
	if s.StandInSize > 0 {
		size = s.StandInSize
	}
	if s.Reduced {
		size = 1
	}
	return azure.Pool{Name: standInName(s.poolID(), source.OSType), Count: max(size, 1), Mode: source.Mode}
}

func standInOf(seen reading) string { return seen.standIn().Name }

func (r *recreation) addStandIn() runbook.Step {
	present := r.guard("source-present", "is the pool there, so that its stand-in can go?", sourcePresent)
	remove := r.ownStandIn(present).step("remove-stand-in", "remove the stand-in pool")
	return runbook.Step{
		Name: "add-stand-in",
		Changes: "create a stand-in pool like " + r.Pool + " and wait for its nodes; " +
			"if it is a system pool that quota refuses at that size, once more with one node",
		Guards: allGuards(), Preconditions: []runbook.Guard{r.leftoversKnown()}, Budget: 20 * time.Minute,
		Inputs: func(run runbook.Run) (any, error) {
			seen, err := r.recall(run)
			return map[string]any{"pool": seen.standIn().Name, "count": seen.standIn().Count}, err
		},
		Observe:   runbook.Observe(r.readStandIn, standInAdded),
		Apply:     runbook.Act(r.readStandIn, r.createStandIn),
		Await:     runbook.Act(r.readTaken, r.awaitStandIn),
		RetryWith: r.reduceStandIn,
		Rollback:  &remove,
	}
}

func (r *recreation) createStandIn(ctx context.Context, run runbook.Run, seen standInPool) error {
	like, err := seen.taken.Definition.Sanitized(seen.AKS.Version)
	if err != nil {
		return err
	}
	// Without the autoscaler, of the stand-in's size, and with tags that say what it is.
	body, err := like.With(func(properties map[string]any) {
		for _, autoscaler := range []string{"enableAutoScaling", "minCount", "maxCount"} {
			delete(properties, autoscaler)
		}
		properties["count"] = json.Number(fmt.Sprint(seen.standIn().Count))
		tags, _ := properties["tags"].(map[string]any)
		if tags == nil {
			tags = map[string]any{}
			properties["tags"] = tags
		}
		tags[purposeTag], tags[sourceTag], tags[runTag] = purpose, r.poolID(), seen.Run
	})
	if err != nil {
		return err
	}
	return r.put(ctx, run, seen.Name, seen.Definition, body)
}

func (r *recreation) awaitStandIn(ctx context.Context, run runbook.Run, seen reading) error {
	own := seen.standIn()
	run.Report(runbook.Progress{Text: "ARM is creating pool " + own.Name, Pools: r.poolNodes(own.Name, 0, own.Count)})
	if err := r.awaitCreated(ctx, run, own.Name); err != nil {
		return err
	}
	return r.awaitNodes(ctx, run, seen.taken, own.Name, own.Count)
}

// reduceStandIn has a stand-in that quota refused tried once more with one node.
func (r *recreation) reduceStandIn(ctx context.Context, run runbook.Run, refused error) (bool, error) {
	seen, err := r.recall(run)
	own := seen.standIn()
	if err != nil || own.Count <= 1 || own.Mode != "System" || !azure.RefusedByQuota(refused) {
		return false, err
	}
	if err := run.Warn(ctx, "quota refuses a stand-in of %d nodes; trying one node", own.Count); err != nil {
		return false, err
	}
	if err := run.Note(ctx, reducedNote, true); err != nil {
		return false, err
	}
	return true, nil
}

// standInPool is a stand-in as it is; without a definition it is absent.
type standInPool struct {
	reading
	Name       string           `json:"name"`
	MadeBy     string           `json:"madeBy"`
	Definition azure.Definition `json:"definition"`
}

func (r *recreation) readStandIn(ctx context.Context, run runbook.Run) (standInPool, error) {
	seen, err := r.readTaken(ctx, run)
	if err != nil {
		return standInPool{}, err
	}
	return r.standInPool(ctx, seen, standInOf(seen), seen.Run)
}

// standInPool reads the stand-in that a run made. A pool of its name with other tags is a
// stranger's, which is never touched.
func (r *recreation) standInPool(ctx context.Context, seen reading, pool, run string) (standInPool, error) {
	definition, err := r.definition(ctx, pool)
	if definition == nil || err != nil {
		return standInPool{seen, pool, run, nil}, err
	}
	found, err := definition.Pool()
	if err == nil && !r.whose(found.Tags, run) {
		err = &runbook.Contradiction{
			Reason:   fmt.Sprintf("conflict: pool %q has the name of the stand-in but not its tags", pool),
			Question: fmt.Sprintf("Whose is pool %q? Remove it, or give it back its tags.", pool),
		}
	}
	return standInPool{seen, pool, run, definition}, err
}

func standInAdded(seen standInPool) runbook.Observation {
	if seen.Definition == nil {
		return runbook.NotStarted("pool %s not found", seen.Name)
	}
	state := seen.Definition.State()
	failed := state == "Failed" || state == "Canceled"
	switch {
	case state == "Deleting":
		return runbook.Undecidable(fmt.Sprintf("Who is deleting pool %q, this run's stand-in?", seen.Name),
			"somebody is deleting the stand-in")
	case failed && seen.operation != nil:
		return runbook.InFlight("the stand-in is %s; its operation knows why", state)
	case failed:
		return runbook.NotStarted("the stand-in is %s", state)
	}
	return runbook.InFlight("the stand-in is %s", orNone(state))
}

// standInReady is a precondition of all that relies on the stand-in, and is asked again while the
// source is drained.
func (r *recreation) standInReady() runbook.Guard {
	return ask(r.Inputs, "stand-in-ready", "do the stand-in's nodes serve now?", r.readNew(standInOf), standInReady)
}

// standInReady holds when ARM lists the stand-in as this run's, and as many nodes as it must have
// are Ready and schedulable.
func standInReady(seen withNodes) runbook.Finding {
	own, ready := seen.standIn(), serving(seen.Nodes)
	pool, found := seen.AKS.Pool(own.Name)
	finding := runbook.Yes("all %d nodes of the stand-in are Ready and schedulable", ready)
	switch {
	case !found:
		finding = runbook.No("stand-in %q not found", own.Name).WithOutcome(runbook.Failed)
	case !seen.whose(pool.Tags, seen.Run):
		finding = runbook.No("pool %q is not this run's stand-in: its tags say otherwise", pool.Name).
			WithOutcome(runbook.NeedsAttention)
	case pool.State == "Deleting":
		finding = runbook.No("somebody is deleting stand-in %q", pool.Name).WithOutcome(runbook.Failed)
	case ready < own.Count:
		finding = runbook.No("only %d of the stand-in's %d nodes are Ready and schedulable", ready, own.Count).
			WithOutcome(runbook.Failed)
	}
	return finding.WithEvidence(seen.nodesEvidence(own.Name))
}
