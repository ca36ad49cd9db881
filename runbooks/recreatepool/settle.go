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

const (
	// abortNote keeps when the abort was sent.
	abortNote = "abort-sent"
	// abortShows is how long an abort may take until it shows: before that, a cluster
	// that is still Updating does not prove that the abort never arrived.
	abortShows = 3 * time.Minute
)

func (r *recreation) settleCluster() runbook.Step {
	return runbook.Step{
		Name: "settle-cluster",
		Changes: fmt.Sprintf("abort the cluster's operation if one is running that began at least %s ago",
			time.Duration(r.SettleAge)),
		Guards:        allGuards(),
		Preconditions: []runbook.Guard{r.operationStuck()},
		Budget:        15 * time.Minute,
		Observe:       observe(r, (*reader).settling, settled),
		Apply: r.do(func(rd *reader) error {
			rd.note(abortNote, rd.Clock.Now())
			return rd.start(func() (*azure.Operation, error) {
				return rd.Azure.AbortCluster(rd.ctx, rd.ResourceGroup, rd.Cluster)
			})
		}),
		Await: r.do((*reader).awaitSettled),
	}
}

// settling is what tells how far the abort is.
type settling struct {
	cluster azure.Cluster
	// abortAge is how long ago the abort was sent; negative when none was.
	abortAge time.Duration
}

func (rd *reader) settling() settling {
	seen := settling{rd.cluster(), -1}
	var sent time.Time
	if rd.recall(abortNote, &sent) {
		seen.abortAge = rd.Clock.Since(sent)
	}
	return seen
}

func settled(seen settling) runbook.Observation {
	switch {
	case !operating(seen.cluster.State):
		return runbook.Done("no operation is running on the cluster")
	case seen.abortAge >= 0 && seen.abortAge < abortShows:
		return runbook.InFlight("the abort was sent less than %s ago", abortShows)
	}
	return runbook.NotStarted("the cluster is %s", seen.cluster.State)
}

// awaitSettled waits until the cluster is seen to have left its operation. An
// abort that doesn't show in time is taken for one that never arrived.
func (rd *reader) awaitSettled() error {
	if err := rd.awaitOperation(rd.clusterID(), "aborting the cluster's operation"); err != nil {
		return err
	}
	limited, cancel := clock.WithTimeout(rd.ctx, rd.Clock, abortShows)
	defer cancel()
	err := rd.awaitCluster(limited, func(cluster azure.Cluster) bool {
		return !operating(cluster.State) && cluster.State != "Canceling"
	})
	if err != nil && context.Cause(rd.ctx) == nil && context.Cause(limited) != nil {
		return apierr.New(apierr.Transient, "timed out: the cluster did not leave its operation within %s of the abort",
			abortShows)
	}
	if err != nil {
		return err
	}
	// The pool may leave its state a moment later; whether it did is asked before
	// the snapshot.
	if _, err := rd.awaitPool(limited, rd.Pool); err != nil && context.Cause(limited) == nil {
		return err
	}
	return context.Cause(rd.ctx)
}
