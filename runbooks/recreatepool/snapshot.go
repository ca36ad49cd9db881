package recreatepool

import (
	"bytes"
	"encoding/json"
	"fmt"

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

// snapshot is everything that is needed to make the pool again and to tell
// afterwards whether all is as it was.
type snapshot struct {
	Definition azure.Definition `json:"definition"`
	ETag       string           `json:"etag"`
	// ScaleSets names those that are corrupted; the new pool must have another.
	ScaleSets []string `json:"scaleSets"`
	// PoolNodes are the pool's nodes and OtherNodes those of other pools, to tell new
	// nodes from old ones and to compare who was cordoned.
	PoolNodes  []kube.Node `json:"poolNodes"`
	OtherNodes []kube.Node `json:"otherNodes"`
}

func (r *recreation) takeSnapshot() runbook.Step {
	return runbook.Step{
		Name: "snapshot",
		Changes: fmt.Sprintf("nothing: write the definition of pool %s, its ETag and the state of all nodes to the journal, "+
			"and read them back",
			r.Pool),
		Guards:        allGuards(),
		Preconditions: []runbook.Guard{r.poolAtRest()},
		Observe: observe(r, func(rd *reader) bool { return rd.recall(snapshotNote, &snapshot{}) },
			func(found bool) runbook.Observation {
				if found {
					return runbook.Done("the journal holds the snapshot")
				}
				return runbook.NotStarted("the journal holds no snapshot")
			}),
		Apply: r.do(func(rd *reader) error {
			taken := rd.newSnapshot()
			rd.note(snapshotNote, taken)
			rd.verify(taken)
			return nil
		}),
	}
}

// newSnapshot reads what belongs into a snapshot.
func (rd *reader) newSnapshot() snapshot {
	cluster, sets := rd.cluster(), rd.scaleSets()
	pool, _ := cluster.Pool(rd.Pool)
	all, labelled := rd.nodes(""), rd.nodesAsExpected(rd.Pool, kube.ExpectedNodes{Source: "ARM", Count: &pool.Count})
	definition := rd.definition(rd.Pool)
	taken := snapshot{Definition: definition, ETag: definition.ETag(), ScaleSets: scaleSetNames(sets)}
	rd.attempt(func() (err error) {
		switch state := definition.State(); {
		case cluster.Version == "":
			return apierr.New(apierr.Terminal,
				"ARM does not say the control plane's version: the pool could be made again with an older one")
		case changing(state):
			return apierr.New(apierr.Conflict, "conflict: the pool is %s, its definition may still change", state)
		}
		if taken.PoolNodes, taken.OtherNodes, err = splitNodes(all, labelled, taken.ScaleSets); err != nil {
			return err
		}
		return taken.check(rd.Inputs)
	})
	return taken
}

// check tells whether a snapshot is one of the pool that is meant, and whether the
// pool could be made again from it. It is asked of what was read, and again of what
// the record gives back.
func (s snapshot) check(in Inputs) error {
	model, err := s.Definition.Model()
	if err != nil {
		return err
	}
	p, invalid := model.Properties, func(format string, args ...any) error {
		return apierr.New(apierr.Terminal, "invalid definition of pool %q: %s", in.Pool, fmt.Sprintf(format, args...))
	}
	low, count, high := valueOf(p.MinCount), valueOf(p.Count), valueOf(p.MaxCount)
	switch {
	case !azure.SameID(valueOf(model.ID), in.poolID()) || valueOf(model.Name) != in.Pool:
		return invalid("it is of pool %q, ID %q", valueOf(model.Name), valueOf(model.ID))
	case valueOf(p.VMSize) == "":
		return invalid("no vmSize, so the pool could not be made again")
	case valueOf(p.VnetSubnetID) == "":
		return invalid("no vnetSubnetID, so the pool could not be made again in the same network")
	case s.Definition.ETag() == "" || s.ETag != s.Definition.ETag():
		return invalid("ETag %q, not %q", s.Definition.ETag(), s.ETag)
	case p.Count == nil && p.MinCount == nil || min(low, count, high) < 0 || max(low, count, high) > maxPoolNodes:
		return invalid("%d nodes, from %d to %d", count, low, high)
	case len(s.ScaleSets) == 0:
		return invalid("no scale set")
	}
	return nil
}

// snapshot gives the snapshot that the record holds.
func (rd *reader) snapshot() snapshot {
	taken, found := rd.snapshotIfTaken()
	rd.attempt(func() error {
		if !found {
			return apierr.New(apierr.Terminal, "snapshot not found in the journal")
		}
		return nil
	})
	return taken
}

// snapshotIfTaken is snapshot for what is asked before it was taken too. The record is
// memory, not authority: a snapshot of another pool contradicts the inputs.
func (rd *reader) snapshotIfTaken() (taken snapshot, found bool) {
	found = rd.recall(snapshotNote, &taken)
	rd.attempt(func() error {
		if !found {
			return nil
		}
		err := taken.check(rd.Inputs)
		if err == nil {
			return nil
		}
		return &contradiction{
			reason: "the record's snapshot is not one of this target: " + err.Error(),
			question: fmt.Sprintf("Who wrote run %s? Compare its snapshot with the pool "+
				"(salve runs show %[1]s --output json), then abandon it.",
				rd.run.ID()),
		}
	})
	return taken, found
}

// verify reads the snapshot back from where the journal is kept and compares it, byte
// for byte.
func (rd *reader) verify(taken snapshot) {
	rd.attempt(func() error {
		var kept snapshot
		found, err := rd.run.ReadBack(rd.ctx, snapshotNote, &kept)
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
			return apierr.New(apierr.Terminal,
				"the snapshot that was read back from the journal differs from the one that was written")
		}
		return nil
	})
}

// nodesWanted is how many nodes the pool must have: its minimum when the
// autoscaler runs it, its count otherwise.
func (rd *reader) nodesWanted() (wanted int) {
	taken := rd.snapshot()
	rd.attempt(func() error {
		model, err := taken.Definition.Model()
		if err != nil {
			return err
		}
		p := model.Properties
		wanted = int(valueOf(p.Count))
		if valueOf(p.EnableAutoScaling) && p.MinCount != nil {
			wanted = int(*p.MinCount)
		}
		return nil
	})
	return wanted
}
