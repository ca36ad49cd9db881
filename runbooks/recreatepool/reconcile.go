package recreatepool

import (
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/runbook"
)

const (
	// reconcileTag carries the time of the tag merge that settles the cluster.
	reconcileTag = "salve-reconciled"
	// reconcileShows is how long it may take until a tag merge shows in the cluster.
	reconcileShows = 2 * time.Minute
)

func (r *recreation) reconcileCluster() runbook.Step {
	return runbook.Step{
		Name:    "reconcile-cluster",
		Changes: "merge a tag with a fresh timestamp into the cluster, so that AKS moves it to Succeeded",
		Guards:  []string{"cluster-exists"},
		Budget:  15 * time.Minute,
		Observe: observe(r, (*reader).cluster, reconciled),
		Apply: r.do(func(rd *reader) error {
			cluster := rd.cluster()
			rd.attempt(func() error {
				return rd.Azure.MergeTag(rd.ctx, cluster.ID, reconcileTag, rd.Clock.Now().UTC().Format(time.RFC3339))
			})
			return nil
		}),
		Await: r.do((*reader).awaitReconciled),
	}
}

func reconciled(c azure.Cluster) runbook.Observation {
	switch {
	case c.State == "Succeeded":
		return runbook.Done("the cluster is Succeeded")
	case operating(c.State):
		return runbook.InFlight("the cluster is %s", c.State)
	}
	return runbook.NotStarted("the cluster is %s", orNone(c.State))
}

// awaitReconciled waits until the cluster is Succeeded. While another pool is
// wedged AKS can't get it there: that is said, and left to that pool's own run.
func (rd *reader) awaitReconciled() error {
	start := rd.Clock.Now()
	var failed []string
	err := rd.awaitCluster(rd.ctx, func(cluster azure.Cluster) bool {
		failed = otherFailures(cluster, rd.Pool)
		waited := !operating(cluster.State) && rd.Clock.Since(start) >= reconcileShows
		return cluster.State == "Succeeded" || waited && len(failed) > 0
	})
	if err == nil && len(failed) > 0 {
		return rd.run.Warn(rd.ctx, "the cluster is not Succeeded because of %s, which this run is not about",
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
