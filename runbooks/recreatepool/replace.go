package recreatepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/runbook"
)

// deletingNote is written right before the pool's deletion is asked for.
const deletingNote = "deleting"

func (r *recreation) deletePool() runbook.Step {
	kept := ask(r.Inputs, "snapshot-kept", "does the journal hold a snapshot that still describes the pool?", r.readKept,
		snapshotKept)
	return runbook.Step{
		Name: "delete-pool", Irreversible: true, Budget: 25 * time.Minute,
		Changes: fmt.Sprintf("delete pool %s, and its corrupted scale set with it", r.Pool),
		Guards:  append(allGuards(), budgetsGuard), Preconditions: []runbook.Guard{kept, r.standInReady()},
		Inputs:  r.deletionInputs,
		Observe: runbook.Observe(r.readDeletion, deleted),
		Apply:   runbook.Act(r.readKept, r.deleteAsCompared),
		Await:   func(ctx context.Context, run runbook.Run) error { return r.awaitDeleted(ctx, run, r.Pool) },
	}
}

// deletionInputs tell when pods are deleted that their budgets keep.
func (r *recreation) deletionInputs(run runbook.Run) (any, error) {
	var blocked *blockedDrain
	if _, err := run.Recall(blockedNote, &blocked); blocked == nil || err != nil {
		return nil, err
	}
	return map[string]bool{"ignorePodDisruptionBudget": true}, nil
}

// comparison is the snapshot beside the pool as it is now; nil when it is absent.
type comparison struct {
	reading
	Current azure.Definition `json:"current"`
	// Different names the properties that the snapshot has otherwise.
	Different []string `json:"different"`
}

// readPool reads the pool and compares it with the snapshot.
func (r *recreation) readPool(ctx context.Context, run runbook.Run) (comparison, error) {
	seen, err := r.readTaken(ctx, run)
	if err != nil {
		return comparison{}, err
	}
	current, err := r.definition(ctx, r.Pool)
	if current == nil || err != nil {
		return comparison{reading: seen}, err
	}
	different, err := seen.taken.Definition.Differences(current)
	return comparison{seen, current, different}, err
}

// readKept is readPool with the snapshot as it is read back from the journal.
func (r *recreation) readKept(ctx context.Context, run runbook.Run) (comparison, error) {
	seen, err := r.readPool(ctx, run)
	if err == nil {
		err = seen.taken.readBack(ctx, run)
	}
	return seen, err
}

// snapshotKept holds when the snapshot, which was read back from the journal, still describes the
// pool.
func snapshotKept(seen comparison) runbook.Finding {
	if seen.Current == nil {
		return runbook.No("somebody else deleted pool %q", seen.Pool).WithOutcome(runbook.NeedsAttention)
	}
	etag := seen.Current.ETag()
	saw := runbook.NewEvidence("ARM pool "+seen.Pool, etag, seen.Now, map[string]string{"etag": etag})
	if len(seen.Different) > 0 {
		return runbook.No("somebody changed pool %q since the snapshot: %v", seen.Pool, seen.Different).WithEvidence(saw).
			WithOutcome(runbook.Failed)
	}
	return runbook.Yes("the snapshot was read back and still describes the pool").WithEvidence(saw)
}

// deleteAsCompared deletes the pool under the ETag with which it was compared with the snapshot: a
// change that somebody made since then is not deleted with it.
func (r *recreation) deleteAsCompared(ctx context.Context, run runbook.Run, seen comparison) error {
	if finding := snapshotKept(seen); finding.Answer != runbook.AnswerHolds {
		return apierr.New(apierr.Conflict, "precondition failed: snapshot-kept: %s", finding.Reason)
	}
	// With pods that their budgets keep on it, only an override of budgets-respected has let the run come here.
	var blocked *blockedDrain
	if _, err := run.Recall(blockedNote, &blocked); err != nil {
		return err
	}
	if err := run.Note(ctx, deletingNote, true); err != nil {
		return err
	}
	operation, err := r.Azure.DeletePool(ctx, r.poolName(r.Pool), seen.Current.ETag(),
		azure.DeletePoolOptions{IgnoreBudgets: blocked != nil})
	switch {
	case err == nil:
		return operation.Note(ctx, run)
	case apierr.MayHaveHappened(err):
		return err
	}
	return errors.Join(err, run.Note(ctx, deletingNote, false)) // refused: its absence would not be our doing
}

// deletion is what tells how far the pool's deletion is.
type deletion struct {
	comparison
	// newSets are scale sets that the snapshot doesn't know: those of a pool that somebody made in
	// place of the deleted one.
	newSets []string
}

func (r *recreation) readDeletion(ctx context.Context, run runbook.Run) (deletion, error) {
	seen, err := r.readPool(ctx, run)
	if err != nil || seen.Current == nil || seen.Current.State() == "Deleting" {
		return deletion{comparison: seen}, err
	}
	sets, err := r.Azure.ScaleSets(ctx, seen.AKS.NodeResourceGroup, r.Pool)
	known := func(name string) bool { return slices.Contains(seen.taken.ScaleSets, name) }
	return deletion{seen, slices.DeleteFunc(scaleSetNames(sets), known)}, err
}

func deleted(seen deletion) runbook.Observation {
	switch {
	case seen.Current == nil && seen.Deleted:
		return runbook.Done("pool %s is gone", seen.Pool)
	case seen.Current == nil:
		return runbook.Undecidable(fmt.Sprintf("Who deleted pool %q? Its definition is in this run's journal "+
			"(salve runs show --output json); the stand-in serves.", seen.Pool),
			"somebody else deleted pool %s", seen.Pool)
	case seen.Current.State() == "Deleting":
		return runbook.InFlight("pool %s is being deleted", seen.Pool)
	case len(seen.newSets) > 0:
		sets := strings.Join(seen.newSets, ", ")
		return runbook.Undecidable(fmt.Sprintf("Who made pool %q anew? Its scale set %s is not the one of the snapshot. "+
			"If it is as it should be, abandon this run and remove the stand-in.", seen.Pool, sets),
			"pool %s has another scale set, %s", seen.Pool, sets)
	}
	return runbook.NotStarted("pool %s is %s", seen.Pool, orNone(seen.Current.State()))
}

func (r *recreation) recreate() runbook.Step {
	return runbook.Step{
		Name: "recreate", Guards: guardsWithoutPool(), Budget: 25 * time.Minute,
		Changes: fmt.Sprintf("create pool %s again from the snapshot, and wait for its nodes", r.Pool),
		Observe: runbook.Observe(r.readPool, recreated),
		Apply:   runbook.Act(r.readPool, r.createFromSnapshot),
		Await:   runbook.Act(r.readTaken, r.awaitReplacement),
	}
}

func recreated(seen comparison) runbook.Observation {
	if seen.Current == nil {
		return runbook.NotStarted("pool %s not found", seen.Pool)
	}
	state := seen.Current.State()
	switch {
	case len(seen.Different) > 0 || state == "Deleting":
		different := strings.Join(seen.Different, "; ")
		return runbook.Undecidable(
			fmt.Sprintf("Who is changing pool %q? It is %s and differs from the snapshot: %s.", seen.Pool, state, different),
			"pool %s is %s and not as the snapshot says: %s", seen.Pool, state, different)
	case seen.operation != nil:
		return runbook.InFlight("pool %s is %s; its operation knows more", seen.Pool, state)
	case state == "Failed" || state == "Canceled":
		return runbook.NotStarted("pool %s is %s", seen.Pool, state)
	}
	return runbook.InFlight("pool %s is %s", seen.Pool, state)
}

func (r *recreation) createFromSnapshot(ctx context.Context, run runbook.Run, seen comparison) error {
	if at := recreated(seen); at.State != runbook.StateNotStarted {
		return apierr.New(apierr.Conflict, "conflict: %s", at.Reason)
	}
	body, err := seen.taken.Definition.Sanitized(seen.AKS.Version)
	if err != nil {
		return err
	}
	return r.put(ctx, run, r.Pool, seen.Current, body)
}

// awaitReplacement waits until the pool is there, on a scale set of its own, with as many nodes as
// it must have.
func (r *recreation) awaitReplacement(ctx context.Context, run runbook.Run, seen reading) error {
	if err := r.awaitCreated(ctx, run, r.Pool); err != nil {
		return err
	}
	sets, err := r.Azure.ScaleSets(ctx, seen.AKS.NodeResourceGroup, r.Pool)
	if err != nil {
		return err
	}
	old := func(set azure.ScaleSet) bool { return slices.Contains(seen.taken.ScaleSets, set.Name) }
	if i := slices.IndexFunc(sets, old); i >= 0 {
		return apierr.New(apierr.Terminal, "the new pool is on the old scale set %s: the corruption is still there",
			sets[i].Name)
	}
	return r.awaitNodes(ctx, run, seen.taken, r.Pool, seen.taken.pool().MinCount)
}

// recreatedByUs holds when the pool is there, and it was this run that deleted it and made it
// again. A record that lacks either, as one that was cut does, is a question.
func recreatedByUs(seen reading) runbook.Finding {
	pool, found := seen.source()
	finding := runbook.Yes("pool %q is there again", seen.Pool)
	switch {
	case !found:
		finding = runbook.No("pool %q not found: who deleted it? The stand-in stays", seen.Pool).
			WithOutcome(runbook.NeedsAttention)
	case !seen.Deleted || !seen.Recreated:
		finding = runbook.No("the record does not hold that this run deleted pool %q and made it again: who did? "+
			"The stand-in stays", seen.Pool).WithOutcome(runbook.NeedsAttention)
	}
	return finding.WithEvidence(seen.clusterEvidence(), seen.poolEvidence(pool))
}

func (r *recreation) retireStandIn() runbook.Step {
	recreated := r.guard("recreated-by-us", "is the pool there again, by this run's doing?", recreatedByUs)
	step := r.ownStandIn(recreated, r.nodesReady()).step("retire-stand-in", "drain and delete the stand-in pool")
	step.Guards = []string{"cluster-exists"}
	return step
}
