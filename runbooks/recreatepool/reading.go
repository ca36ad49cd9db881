package recreatepool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/runbook"
)

// reading is what guards and steps decide from: what ARM answered of the cluster, once in a round,
// and what this run's record holds. The JSON is what the record keeps of it: what only steps take is not in it, and
// the inputs are in the record's header.
type reading struct {
	Inputs `json:"-"`
	arm
	record
	Run string    `json:"run"`
	Now time.Time `json:"now"`
}

type arm struct {
	AKS azure.Cluster `json:"cluster"`
	// Absent is the answer that there is no such cluster; nil when there is one.
	Absent *runbook.Failure `json:"absent"`
}

// record is what a run has noted. It is memory, not authority: see recall.
type record struct {
	// taken is the snapshot; nil before it was taken. Before is the pool as it says.
	taken  *snapshot   `json:"-"`
	Before *azure.Pool `json:"before"`
	// Deleted: this run asked for the pool's deletion. Recreated: and made it again.
	Deleted   bool `json:"deleted"`
	Recreated bool `json:"recreated"`
	// Reduced: quota forced a stand-in of one node.
	Reduced bool `json:"reduced"`
	// windowStart is where the window of failed writes begins; zero before it was noted.
	windowStart time.Time `json:"-"`
	// aborted is when the abort of the cluster's operation was sent; zero when it wasn't.
	aborted time.Time `json:"-"`
	// operation was begun by the step that asks, and its result is not known yet: it knows why a
	// pool is Failed, the pool doesn't. It is nil when there is none.
	operation *azure.Token `json:"-"`
}

// about gives a reading that comes back from the record the inputs of the run.
func (s *reading) about(in Inputs) { s.Inputs = in }

// ask makes a guard that decides from a reading and the run's inputs.
func ask[T any, P interface {
	*T
	about(Inputs)
}](
	in Inputs, name, question string, read func(context.Context, runbook.Run) (T, error), decide func(T) runbook.Finding,
) runbook.Guard {
	return runbook.Ask(name, question, read, func(seen T) runbook.Finding {
		P(&seen).about(in)
		return decide(seen)
	})
}

// readAny reads the cluster, once in a round. That there is none is a reading too.
func (r *recreation) readAny(ctx context.Context, run runbook.Run) (reading, error) {
	_, err := r.seen.Get(ctx, run, func(ctx context.Context) (arm, error) {
		cluster, err := r.Azure.Cluster(ctx, r.ResourceGroup, r.Cluster)
		if apierr.ClassOf(err) == apierr.Missing {
			return arm{Absent: runbook.FailureOf(err)}, nil
		}
		return arm{AKS: cluster}, err
	})
	if err != nil {
		return reading{}, err
	}
	return r.recall(run)
}

// read reads a cluster that has to be there.
func (r *recreation) read(ctx context.Context, run runbook.Run) (reading, error) {
	seen, err := r.readAny(ctx, run)
	if err == nil && seen.Absent != nil {
		err = seen.Absent
	}
	return seen, err
}

// readTaken is read for what depends on the snapshot.
func (r *recreation) readTaken(ctx context.Context, run runbook.Run) (reading, error) {
	seen, err := r.read(ctx, run)
	if err == nil && seen.taken == nil {
		err = apierr.New(apierr.Terminal, "snapshot not found in the journal")
	}
	return seen, err
}

// recall adds the record to the newest reading of ARM. A record of another target, or one that
// can't be true, is a contradiction for whoever asks.
func (r *recreation) recall(run runbook.Run) (reading, error) {
	seen := reading{Inputs: r.Inputs, arm: r.seen.Last(), Run: run.ID(), Now: r.Clock.Now()}
	var deleting bool
	for note, into := range map[string]any{
		snapshotNote: &seen.taken, deletingNote: &deleting, reducedNote: &seen.Reduced, windowNote: &seen.windowStart,
		abortNote: &seen.aborted, runbook.OperationNote: &seen.operation,
	} {
		if _, err := run.Recall(note, into); err != nil {
			return seen, err
		}
	}
	// From then on the pool's absence is our doing. A note without the step's intent does not say
	// so.
	seen.Deleted = deleting && run.Step("delete-pool").Attempts > 0
	seen.Recreated = run.Step("delete-pool").Done && run.Step("recreate").Done
	switch {
	case seen.taken == nil && seen.Deleted:
		return seen, seen.wrong("it holds the pool's deletion and no snapshot")
	case seen.taken != nil && seen.taken.check(r.Inputs) != nil:
		return seen, seen.wrong("its snapshot is not one of this target: %v", seen.taken.check(r.Inputs))
	case seen.taken != nil:
		pool := seen.taken.pool()
		seen.Before = &pool
	}
	return seen, nil
}

// wrong says what can't be true of the record.
func (s reading) wrong(format string, args ...any) error {
	return &runbook.Contradiction{
		Reason: "conflict: the run's record is wrong: " + fmt.Sprintf(format, args...),
		Question: fmt.Sprintf("Who wrote run %s? Compare its snapshot with the pool (salve runs show %[1]s "+
			"--output json), then abandon it.", s.Run),
	}
}

// source is what ARM lists of the pool that is recreated.
func (s reading) source() (azure.Pool, bool) { return s.AKS.Pool(s.Pool) }

// guard is one that is decided from the reading alone.
func (r *recreation) guard(name, question string, decide func(reading) runbook.Finding) runbook.Guard {
	return ask(r.Inputs, name, question, r.read, decide)
}

// definition reads a pool; nil when it is absent.
func (r *recreation) definition(ctx context.Context, pool string) (azure.Definition, error) {
	definition, err := r.Azure.Definition(ctx, r.poolName(pool))
	if apierr.ClassOf(err) == apierr.Missing {
		return nil, nil
	}
	return definition, err
}

func (s reading) clusterEvidence() runbook.Evidence {
	return runbook.NewEvidence("ARM "+s.AKS.ID, s.AKS.ETag, s.AKS.Seen,
		map[string]string{"provisioningState": s.AKS.State})
}

func (s reading) poolEvidence(pool azure.Pool) runbook.Evidence {
	return runbook.NewEvidence("ARM "+azure.PoolID(s.AKS.ID, pool.Name), pool.ETag, s.AKS.Seen,
		map[string]any{"provisioningState": pool.State, "count": pool.Count})
}

// orNone is a provisioning state in words.
func orNone(state string) string { return cmp.Or(state, "without a state") }

// operating tells whether a cluster's state is that of a running operation.
func operating(state string) bool {
	return slices.Contains([]string{"Updating", "Upgrading", "Canceling"}, state)
}

// changing tells whether a pool's state is that of a running operation.
func changing(state string) bool {
	others := []string{"Creating", "Deleting", "Scaling", "Starting", "Stopping"}
	return operating(state) || slices.Contains(others, state)
}
