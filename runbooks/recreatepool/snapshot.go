package recreatepool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/utils/ptr"

	"salve/azure"
	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// snapshotNote keeps the pool as it was before anything was changed.
const snapshotNote = "snapshot"

// maxPoolNodes is the most nodes that AKS gives a pool
// (https://learn.microsoft.com/azure/aks/quotas-skus-regions).
const maxPoolNodes = 1000

// snapshot is everything that is needed to make the pool again and to tell afterwards whether all
// is as it was.
type snapshot struct {
	Definition azure.Definition `json:"definition"`
	// ScaleSets names those that are corrupted; the new pool must have another.
	ScaleSets []string `json:"scaleSets"`
	// PoolNodes are the pool's nodes and OtherNodes those of other pools, to tell new nodes from
	// old ones and to compare who was cordoned.
	PoolNodes  []kube.Node `json:"poolNodes"`
	OtherNodes []kube.Node `json:"otherNodes"`
}

func (r *recreation) takeSnapshot() runbook.Step {
	atRest := ask(r.Inputs, "pool-at-rest", "is no operation changing the pool?", r.readOperation(ofPool), poolAtRest)
	return runbook.Step{
		Name: "snapshot", Passive: true,
		Changes: fmt.Sprintf("nothing: write the definition of pool %s, its ETag and the state of all nodes to the journal, "+
			"and read them back", r.Pool),
		Guards: allGuards(), Preconditions: []runbook.Guard{atRest},
		Observe: runbook.Observe(r.read, snapshotTaken),
		Apply: runbook.Act(r.newSnapshot, func(ctx context.Context, run runbook.Run, taken snapshot) error {
			ready, nodes := serving(taken.PoolNodes), max(len(taken.PoolNodes), taken.pool().Count)
			run.Report(runbook.Progress{
				Text: fmt.Sprintf("pool %s: %d of %d nodes Ready", r.Pool, ready, nodes), Pools: r.poolNodes(r.Pool, ready, nodes),
			})
			if err := run.Note(ctx, snapshotNote, taken); err != nil {
				return err
			}
			return taken.readBack(ctx, run)
		}),
	}
}

func snapshotTaken(seen reading) runbook.Observation {
	if seen.taken == nil {
		return runbook.NotStarted("the journal holds no snapshot")
	}
	return runbook.Done("the journal holds the snapshot")
}

func (r *recreation) newSnapshot(ctx context.Context, run runbook.Run) (taken snapshot, _ error) {
	seen, err := r.read(ctx, run)
	if err != nil {
		return taken, err
	}
	sets, err := r.Azure.ScaleSets(ctx, seen.AKS.NodeResourceGroup, r.Pool)
	if err != nil {
		return taken, err
	}
	all, err := r.withNodes(ctx, seen, "", nil)
	if err != nil {
		return taken, err
	}
	pool, _ := seen.source()
	labelled, err := r.withNodes(ctx, seen, nodeSelector(r.Pool), &kube.ExpectedNodes{Source: "ARM", Count: &pool.Count})
	if err != nil {
		return taken, err
	}
	definition, err := r.definition(ctx, r.Pool)
	switch state := definition.State(); {
	case err != nil:
		return taken, err
	case seen.AKS.Version == "":
		return taken, apierr.New(apierr.Terminal,
			"ARM does not say the control plane's version: the pool could be made again with an older one")
	case changing(state):
		return taken, apierr.New(apierr.Conflict, "conflict: the pool is %s, its definition may still change", state)
	}
	taken = snapshot{Definition: definition, ScaleSets: scaleSetNames(sets)}
	if taken.PoolNodes, taken.OtherNodes, err = splitNodes(all.Nodes, labelled.Nodes, taken.ScaleSets); err != nil {
		return taken, err
	}
	return taken, taken.check(r.Inputs)
}

// check tells whether a snapshot is one of the pool that is meant, and whether the pool could be
// made again from it. It is asked of what was read, and again of what the record gives back.
func (s snapshot) check(in Inputs) error {
	model, err := s.Definition.Model()
	if err != nil {
		return err
	}
	p, name, id := model.Properties, ptr.Deref(model.Name, ""), ptr.Deref(model.ID, "")
	low, count, high := ptr.Deref(p.MinCount, 0), ptr.Deref(p.Count, 0), ptr.Deref(p.MaxCount, 0)
	invalid := func(format string, args ...any) error {
		return apierr.New(apierr.Terminal, "invalid definition of pool %q: %s", in.Pool, fmt.Sprintf(format, args...))
	}
	switch {
	case !azure.SameID(id, in.poolID()) || name != in.Pool:
		return invalid("it is of pool %q, ID %q", name, id)
	case ptr.Deref(p.VMSize, "") == "":
		return invalid("no vmSize, so the pool could not be made again")
	case ptr.Deref(p.VnetSubnetID, "") == "":
		return invalid("no vnetSubnetID, so the pool could not be made again in the same network")
	case s.Definition.ETag() == "":
		return invalid("no ETag")
	case p.Count == nil && p.MinCount == nil || min(low, count, high) < 0 || max(low, count, high) > maxPoolNodes:
		return invalid("%d nodes, from %d to %d", count, low, high)
	case len(s.ScaleSets) == 0:
		return invalid("no scale set")
	}
	return nil
}

// pool is the pool as it was.
func (s snapshot) pool() azure.Pool {
	pool, _ := s.Definition.Pool() // check has read it
	return pool
}

// readBack reads the snapshot back from where the journal is kept and compares it, byte for byte.
func (s snapshot) readBack(ctx context.Context, run runbook.Run) error {
	var kept snapshot
	found, err := run.ReadBack(ctx, snapshotNote, &kept)
	want, wantErr := json.Marshal(s)
	got, gotErr := json.Marshal(kept)
	if err := errors.Join(err, wantErr, gotErr); err != nil {
		return err
	}
	if !found || !bytes.Equal(want, got) {
		return apierr.New(apierr.Terminal,
			"the snapshot that was read back from the journal differs from the one that was written")
	}
	return nil
}
