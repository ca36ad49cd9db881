package recreatepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

const (
	// abortNote keeps when the abort was sent.
	abortNote = "abort-sent"
	// abortShows is how long an abort may take until it shows: before that, a cluster that is still
	// Updating does not prove that the abort never arrived.
	abortShows = 3 * time.Minute
	// reconcileTag carries the time of the tag merge that settles the cluster.
	reconcileTag = "salve-reconciled"
	// reconcileShows is how long it may take until a tag merge shows in the cluster.
	reconcileShows = 2 * time.Minute
)

func (r *recreation) settleCluster() runbook.Step {
	stuck := ask(r.Inputs, "operation-stuck", "is the cluster's operation, if one is running, too old to be healthy?",
		r.readOperation(ofCluster), operationStuck)
	return runbook.Step{
		Name: "settle-cluster",
		Changes: fmt.Sprintf("abort the cluster's operation if one is running that began at least %s ago",
			r.SettleAge.Duration),
		Guards: allGuards(), Preconditions: []runbook.Guard{stuck}, Budget: 15 * time.Minute,
		Observe: runbook.Observe(r.read, settled),
		Apply: func(ctx context.Context, run runbook.Run) error {
			if err := run.Note(ctx, abortNote, r.Clock.Now()); err != nil {
				return err
			}
			operation, err := r.Azure.AbortCluster(ctx, r.ResourceGroup, r.Cluster)
			if err != nil {
				return err
			}
			return operation.Note(ctx, run)
		},
		Await: r.awaitSettled,
	}
}

func settled(seen reading) runbook.Observation {
	switch {
	case !operating(seen.AKS.State):
		return runbook.Done("no operation is running on the cluster")
	case !seen.aborted.IsZero() && seen.Now.Sub(seen.aborted) < abortShows:
		return runbook.InFlight("the abort was sent less than %s ago", abortShows)
	}
	return runbook.NotStarted("the cluster is %s", seen.AKS.State)
}

// awaitSettled waits until cluster and pool are seen to have left their operations. An abort that
// doesn't show in time is taken for one that never arrived. A pool that is still at work is no
// error: before the snapshot is asked whether it is at rest.
func (r *recreation) awaitSettled(ctx context.Context, run runbook.Run) error {
	run.Report(runbook.Progress{Text: "ARM is aborting the cluster's operation"})
	if err := r.Azure.AwaitNoted(ctx, run, r.clusterID()); err != nil {
		return err
	}
	start, aborted := r.Clock.Now(), false
	err := r.awaitCluster(ctx, run, func(cluster azure.Cluster) bool {
		aborted = !operating(cluster.State)
		pool, _ := cluster.Pool(r.Pool)
		return aborted && !changing(pool.State) || r.Clock.Since(start) >= abortShows
	})
	if err == nil && !aborted {
		return apierr.New(apierr.Transient, "timed out: the cluster did not leave its operation within %s of the abort",
			abortShows)
	}
	return err
}

func (r *recreation) reconcileCluster() runbook.Step {
	return runbook.Step{
		Name:    "reconcile-cluster",
		Changes: "merge a tag with a fresh timestamp into the cluster, so that AKS moves it to Succeeded",
		Guards:  []string{"cluster-exists"}, Budget: 15 * time.Minute,
		Observe: runbook.Observe(r.read, reconciled),
		Apply: func(ctx context.Context, _ runbook.Run) error {
			return r.Azure.MergeTag(ctx, r.clusterID(), reconcileTag, r.Clock.Now().UTC().Format(time.RFC3339))
		},
		Await: r.awaitReconciled,
	}
}

func reconciled(seen reading) runbook.Observation {
	switch state := seen.AKS.State; {
	case state == "Succeeded":
		return runbook.Done("the cluster is Succeeded")
	case operating(state):
		return runbook.InFlight("the cluster is %s", state)
	default:
		return runbook.NotStarted("the cluster is %s", orNone(state))
	}
}

// awaitReconciled waits until the cluster is Succeeded. While another pool is wedged AKS can't get
// it there: that is said, and left to that pool's own run.
func (r *recreation) awaitReconciled(ctx context.Context, run runbook.Run) error {
	start := r.Clock.Now()
	var failed []string
	err := r.awaitCluster(ctx, run, func(cluster azure.Cluster) bool {
		failed = otherFailures(cluster, r.Pool)
		waited := !operating(cluster.State) && r.Clock.Since(start) >= reconcileShows
		return cluster.State == "Succeeded" || waited && len(failed) > 0
	})
	if err == nil && len(failed) > 0 {
		return run.Warn(ctx, "the cluster is not Succeeded because of %s, which this run is not about",
			strings.Join(failed, ", "))
	}
	return err
}

// otherFailures names the other pools because of which a cluster can't be Succeeded.
func otherFailures(c azure.Cluster, target string) []string {
	if c.State == "Succeeded" {
		return nil
	}
	var failed []string
	for _, pool := range c.Pools {
		if pool.Name != target && (pool.State == "Failed" || pool.State == "Canceled") {
			failed = append(failed, fmt.Sprintf("pool %s (%s)", pool.Name, pool.State))
		}
	}
	return failed
}

// awaitCluster reads the cluster until it is as wanted.
func (r *recreation) awaitCluster(ctx context.Context, run runbook.Run, wanted func(azure.Cluster) bool) error {
	err := backoff.Poll(ctx, r.Clock, func(ctx context.Context) (bool, error) {
		cluster, err := r.Azure.Cluster(ctx, r.ResourceGroup, r.Cluster)
		if err != nil || wanted(cluster) {
			return true, err
		}
		run.Report(runbook.Progress{Text: "the cluster is " + orNone(cluster.State)})
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the cluster: %w", err)
	}
	return nil
}
