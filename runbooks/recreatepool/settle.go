package recreatepool

import (
	"context"
	"fmt"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/runbook"
)

// abortNote keeps when the abort was sent.
const abortNote = "abort-sent"

// abortShows is how long an abort may take until it shows: before that, a cluster
// that is still Updating does not prove that the abort never arrived.
const abortShows = 3 * time.Minute

func (r *recreation) settleCluster() runbook.Step {
	return runbook.Step{
		Name:          "settle-cluster",
		Changes:       fmt.Sprintf("abort the cluster's operation if one is running that began at least %s ago", time.Duration(r.SettleAge)),
		Guards:        allGuards,
		Preconditions: []runbook.Guard{r.operationStuck()},
		Budget:        15 * time.Minute,
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return runbook.NotObserved(err)
			}
			if !underWay(cluster.State) {
				return runbook.Done("no operation is running on the cluster")
			}
			recent, err := r.abortedRecently(run)
			if err != nil || !recent {
				if err != nil {
					return runbook.NotObserved(err)
				}
				return runbook.NotStarted("the cluster is %s", cluster.State)
			}
			return runbook.InFlight("%s", "the abort was sent less than "+abortShows.String()+" ago")
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			if err := run.Note(ctx, abortNote, r.Clock.Now()); err != nil {
				return err
			}
			operation, err := r.Azure.AbortCluster(ctx, r.ResourceGroup, r.Cluster)
			if err != nil {
				return err
			}
			return noteOperation(ctx, run, operation)
		},
		Await: r.awaitSettled,
	}
}

func (r *recreation) abortedRecently(run runbook.Run) (bool, error) {
	var sent time.Time
	found, err := run.Recall(abortNote, &sent)
	return found && r.Clock.Since(sent) < abortShows, err
}

// awaitSettled waits until the cluster is seen to have left its operation. An
// abort that doesn't show in time is taken for one that never arrived.
func (r *recreation) awaitSettled(ctx context.Context, run runbook.Run) error {
	if err := r.awaitOperation(ctx, run, r.clusterID(), "aborting the cluster's operation"); err != nil {
		return err
	}
	limited, cancel := clock.WithTimeout(ctx, r.Clock, abortShows)
	defer cancel()
	err := r.awaitCluster(limited, run, func(cluster azure.Cluster) bool {
		return !underWay(cluster.State) && cluster.State != "Canceling"
	})
	if err != nil && context.Cause(ctx) == nil && context.Cause(limited) != nil {
		return apierr.New(apierr.Transient, "the cluster did not leave its operation within %s of the abort", abortShows)
	}
	if err != nil {
		return err
	}
	// The pool may leave its state a moment later; whether it did is asked before
	// the snapshot.
	if _, err := r.awaitPool(limited, r.Pool); err != nil && context.Cause(limited) == nil {
		return err
	}
	return context.Cause(ctx)
}
