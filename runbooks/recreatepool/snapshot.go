package recreatepool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"salve/azure"
	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// snapshotNote keeps the pool as it was before anything was changed.
const snapshotNote = "snapshot"

// snapshot is everything that is needed to make the pool again and to tell
// afterwards whether all is as it was.
type snapshot struct {
	Definition azure.Definition `json:"definition"`
	ETag       string           `json:"etag"`
	// ScaleSets names those that are corrupted; the new pool must have another.
	ScaleSets []string `json:"scaleSets"`
	// Nodes are all nodes of the cluster, to compare who was cordoned.
	Nodes []kube.Node `json:"nodes"`
}

func (r *recreation) snapshot() runbook.Step {
	return runbook.Step{
		Name:          "snapshot",
		Changes:       fmt.Sprintf("nothing: write the definition of pool %s, its ETag and the state of all nodes to the journal, and read them back", r.Pool),
		Guards:        allGuards,
		Preconditions: []runbook.Guard{r.poolAtRest()},
		Observe: func(_ context.Context, run runbook.Run) runbook.Observation {
			if _, found, err := recallSnapshot(run); found || err != nil {
				if err != nil {
					return runbook.NotObserved(err)
				}
				return runbook.Done("the journal holds the snapshot")
			}
			return runbook.NotStarted("the journal holds no snapshot")
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			taken, err := r.takeSnapshot(ctx, run)
			if err != nil {
				return err
			}
			if err := run.Note(ctx, snapshotNote, taken); err != nil {
				return err
			}
			return verifySnapshot(ctx, run, taken)
		},
	}
}

func (r *recreation) takeSnapshot(ctx context.Context, run runbook.Run) (snapshot, error) {
	cluster, err := r.cluster(ctx, run)
	if err != nil {
		return snapshot{}, err
	}
	if cluster.Version == "" {
		return snapshot{}, apierr.New(apierr.Terminal, "ARM does not say the control plane's version: the pool could be made again with an older one")
	}
	definition, err := r.Azure.Definition(ctx, r.poolName(r.Pool))
	if err != nil {
		return snapshot{}, err
	}
	if err := complete(definition); err != nil {
		return snapshot{}, err
	}
	sets, err := r.Azure.ScaleSets(ctx, cluster.NodeResourceGroup, r.Pool)
	if err != nil {
		return snapshot{}, err
	}
	nodes, err := r.nodes(ctx, "")
	if err != nil {
		return snapshot{}, err
	}
	return snapshot{Definition: definition, ETag: definition.ETag(), ScaleSets: scaleSetNames(sets), Nodes: nodes}, nil
}

// complete refuses a definition that could not be created again, or that an
// operation is still changing.
func complete(definition azure.Definition) error {
	model, err := definition.Model()
	if err != nil {
		return err
	}
	switch p := model.Properties; {
	case p.VMSize == nil || *p.VMSize == "":
		return apierr.New(apierr.Terminal, "the pool's definition has no vmSize: it could not be made again")
	case p.VnetSubnetID == nil || *p.VnetSubnetID == "":
		return apierr.New(apierr.Terminal, "the pool's definition has no vnetSubnetID: it could not be made again in the same network")
	case definition.ETag() == "":
		return apierr.New(apierr.Terminal, "the pool's definition has no ETag")
	case moving(definition.State()):
		return apierr.New(apierr.Conflict, "the pool is %s: its definition may still change", definition.State())
	}
	return nil
}

func recallSnapshot(run runbook.Run) (snapshot, bool, error) {
	var kept snapshot
	found, err := run.Recall(snapshotNote, &kept)
	return kept, found, err
}

// mustRecall is for steps that come after the snapshot.
func mustRecall(run runbook.Run) (snapshot, error) {
	kept, found, err := recallSnapshot(run)
	if err == nil && !found {
		err = apierr.New(apierr.Terminal, "the journal holds no snapshot")
	}
	return kept, err
}

// verifySnapshot reads the snapshot back from where the journal is kept and
// compares it, byte for byte.
func verifySnapshot(ctx context.Context, run runbook.Run, taken snapshot) error {
	var kept snapshot
	found, err := run.ReadBack(ctx, snapshotNote, &kept)
	if err != nil {
		return err
	}
	want, err := json.Marshal(taken)
	if err != nil {
		return err
	}
	got, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if !found || !bytes.Equal(want, got) {
		return apierr.New(apierr.Terminal, "the snapshot that was read back from the journal differs from the one that was written")
	}
	return nil
}

// snapshotKept is a condition of the deletion: the snapshot can be read back from
// the journal, and it still describes the pool.
func (r *recreation) snapshotKept() runbook.Guard {
	return runbook.Guard{Name: "snapshot-kept", Question: "does the journal hold a snapshot that still describes the pool?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			taken, err := mustRecall(run)
			if err == nil {
				err = verifySnapshot(ctx, run, taken)
			}
			if err != nil {
				return runbook.Unknown(err)
			}
			now, err := r.definition(ctx, r.Pool)
			switch {
			case err != nil:
				return runbook.Unknown(err)
			case now == nil:
				return runbook.No("somebody else deleted pool %q", r.Pool).WithOutcome(runbook.NeedsAttention)
			}
			saw := runbook.NewEvidence("ARM pool "+r.Pool, now.ETag(), r.Clock.Now(), map[string]string{"etag": now.ETag()})
			different, err := taken.Definition.Differences(now)
			switch {
			case err != nil:
				return runbook.Unknown(err).WithEvidence(saw)
			case len(different) > 0:
				return runbook.No("somebody changed pool %q since the snapshot: %v", r.Pool, different).WithEvidence(saw).WithOutcome(runbook.Failed)
			}
			r.kept, r.keptRound = now.ETag(), run.Round()
			return runbook.Yes("the snapshot was read back and still describes the pool").WithEvidence(saw)
		}}
}

func scaleSetNames(sets []azure.ScaleSet) []string {
	names := []string{}
	for _, set := range sets {
		names = append(names, set.Name)
	}
	return names
}
