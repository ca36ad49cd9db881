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
	"salve/kube"
	"salve/runbook"
)

// deletingNote is written right before the pool's deletion is asked for: from
// then on its absence is our doing.
const deletingNote = "deleting"

func (r *recreation) deletedByUs(run runbook.Run) (bool, error) {
	var deleting bool
	_, err := run.Recall(deletingNote, &deleting)
	return deleting, err
}

func (r *recreation) deletePool() runbook.Step {
	return runbook.Step{
		Name:          "delete-pool",
		Changes:       fmt.Sprintf("delete pool %s, and its corrupted scale set with it", r.Pool),
		Irreversible:  true,
		Guards:        allGuards,
		Preconditions: []runbook.Guard{r.snapshotKept(), r.standInReady()},
		Budget:        25 * time.Minute,
		Observe:       r.observeDeletion,
		Apply:         r.deleteAsJudged,
		Await:         func(ctx context.Context, run runbook.Run) error { return r.awaitDeleted(ctx, run, r.Pool) },
	}
}

// deleteAsJudged deletes the pool under the ETag with which it was compared with
// the snapshot: a change that somebody made since then is not deleted with it.
func (r *recreation) deleteAsJudged(ctx context.Context, run runbook.Run) error {
	if r.kept == "" || r.keptRound != run.Round() {
		return apierr.New(apierr.Terminal, "the pool was not compared with the snapshot in this round")
	}
	if err := run.Note(ctx, deletingNote, true); err != nil {
		return err
	}
	operation, err := r.Azure.DeletePool(ctx, r.poolName(r.Pool), r.kept)
	if err != nil {
		if !apierr.MayHaveHappened(err) {
			err = errors.Join(err, run.Note(ctx, deletingNote, false)) // refused: its absence would not be our doing
		}
		return err
	}
	return noteOperation(ctx, run, operation)
}

// observeDeletion tells the old pool from one that somebody made in its place: by
// its scale set.
func (r *recreation) observeDeletion(ctx context.Context, run runbook.Run) runbook.Observation {
	seen := r.observeRemoval(ctx, r.Pool)
	if seen.Failure() != nil {
		return seen
	}
	ours, err := r.deletedByUs(run)
	if err != nil {
		return runbook.NotObserved(err)
	}
	if seen.State == runbook.StateDone && !ours {
		return runbook.Undecidable(fmt.Sprintf("Who deleted pool %q? Its definition is in this run's journal (salve runs show --output json); the stand-in serves.", r.Pool), "somebody else deleted pool %s", r.Pool)
	}
	if seen.State != runbook.StateNotStarted {
		return seen
	}
	fresh, err := r.freshScaleSets(ctx, run)
	switch {
	case err != nil:
		return runbook.NotObserved(err)
	case len(fresh) == 0:
		return seen
	}
	return runbook.Undecidable(fmt.Sprintf("Who made pool %q anew? Its scale set %s is not the one of the snapshot. If it is as it should be, abandon this run and remove the stand-in.",
		r.Pool, strings.Join(fresh, ", ")), "pool %s has another scale set, %s", r.Pool, strings.Join(fresh, ", "))
}

// freshScaleSets names the pool's scale sets that the snapshot doesn't know.
func (r *recreation) freshScaleSets(ctx context.Context, run runbook.Run) ([]string, error) {
	taken, err := mustRecall(run)
	if err != nil {
		return nil, err
	}
	cluster, err := r.cluster(ctx, run)
	if err != nil {
		return nil, err
	}
	sets, err := r.Azure.ScaleSets(ctx, cluster.NodeResourceGroup, r.Pool)
	fresh := slices.DeleteFunc(scaleSetNames(sets), func(name string) bool { return slices.Contains(taken.ScaleSets, name) })
	return fresh, err
}

func (r *recreation) recreate() runbook.Step {
	return runbook.Step{
		Name:    "recreate",
		Changes: fmt.Sprintf("create pool %s again from the snapshot, and wait for its nodes", r.Pool),
		Guards:  guardsWithoutPool,
		Budget:  25 * time.Minute,
		Observe: r.observeRecreation,
		Apply: func(ctx context.Context, run runbook.Run) error {
			body, err := r.replacement(ctx, run)
			if err != nil {
				return err
			}
			return r.put(ctx, run, r.Pool, body)
		},
		Await: r.awaitReplacement,
	}
}

// replacement is the sanitized snapshot.
func (r *recreation) replacement(ctx context.Context, run runbook.Run) (azure.Definition, error) {
	taken, err := mustRecall(run)
	if err != nil {
		return nil, err
	}
	cluster, err := r.cluster(ctx, run)
	if err != nil {
		return nil, err
	}
	return taken.Definition.Sanitized(cluster.Version)
}

func (r *recreation) observeRecreation(ctx context.Context, run runbook.Run) runbook.Observation {
	definition, err := r.definition(ctx, r.Pool)
	if err != nil {
		return runbook.NotObserved(err)
	}
	if definition == nil {
		return runbook.NotStarted("there is no pool %s", r.Pool)
	}
	taken, err := mustRecall(run)
	if err != nil {
		return runbook.NotObserved(err)
	}
	pending, err := resultPending(run)
	if err != nil {
		return runbook.NotObserved(err)
	}
	different, err := taken.Definition.Differences(definition)
	switch state := definition.State(); {
	case err != nil:
		return runbook.NotObserved(err)
	case len(different) > 0 || state == "Deleting":
		return runbook.Undecidable(fmt.Sprintf("Who is changing pool %q? It is %s and differs from the snapshot: %s.", r.Pool, state, strings.Join(different, "; ")), "pool %s is %s and not as the snapshot says: %s", r.Pool, state, strings.Join(different, "; "))
	case pending:
		return runbook.InFlight("pool %s is %s; its operation knows more", r.Pool, state)
	case state == "Failed" || state == "Canceled":
		return runbook.NotStarted("pool %s is %s", r.Pool, state)
	default:
		return runbook.InFlight("pool %s is %s", r.Pool, state)
	}
}

// awaitReplacement waits until the pool is there, on a scale set of its own, with
// as many nodes as it must have.
func (r *recreation) awaitReplacement(ctx context.Context, run runbook.Run) error {
	if err := r.awaitCreated(ctx, run, r.Pool); err != nil {
		return err
	}
	cluster, err := r.cluster(ctx, run)
	if err != nil {
		return err
	}
	taken, err := mustRecall(run)
	if err != nil {
		return err
	}
	sets, err := r.Azure.ScaleSets(ctx, cluster.NodeResourceGroup, r.Pool)
	if err != nil {
		return err
	}
	for _, name := range scaleSetNames(sets) {
		if slices.Contains(taken.ScaleSets, name) {
			return apierr.New(apierr.Terminal, "the new pool is on the old scale set %s: the corruption is still there", name)
		}
	}
	wanted, err := nodesWanted(taken.Definition)
	if err != nil {
		return err
	}
	return r.awaitNodes(ctx, run, r.Pool, func(nodes []kube.Node) bool { return serving(nodes) >= wanted }, wanted)
}

// nodesWanted is how many nodes the pool must have: its minimum when the
// autoscaler runs it, its count otherwise.
func nodesWanted(definition azure.Definition) (int, error) {
	model, err := definition.Model()
	if err != nil {
		return 0, err
	}
	p := model.Properties
	switch {
	case p.EnableAutoScaling != nil && *p.EnableAutoScaling && p.MinCount != nil:
		return int(*p.MinCount), nil
	case p.Count != nil:
		return int(*p.Count), nil
	}
	return 0, apierr.New(apierr.Terminal, "the pool's definition has no count")
}
