package recreatepool

import (
	"context"
	"strings"
	"time"

	"salve/azure"
	"salve/runbook"
)

// operationSearch is how far back the start of the cluster's operation is looked for.
const operationSearch = 14 * 24 * time.Hour

// operationStuck asks whether an operation that is running on the cluster is old
// enough to be aborted.
func (r *recreation) operationStuck() runbook.Guard {
	return runbook.Guard{Name: "operation-stuck", Question: "is the cluster's operation, if one is running, too old to be healthy?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return runbook.Unknown(err)
			}
			if !underWay(cluster.State) {
				return runbook.Yes("no operation is running on the cluster").WithEvidence(r.clusterEvidence(cluster))
			}
			now := r.Clock.Now()
			began, err := r.operationBegan(ctx, clusterWrite, cluster.ID, now)
			if err != nil {
				return runbook.Unknown(err)
			}
			return r.judgeAge("the cluster's operation", clusterWrite, began, now)
		}}
}

// poolAtRest asks whether no operation of the pool's own is running, which an
// abort of the cluster's does not end.
func (r *recreation) poolAtRest() runbook.Guard {
	return runbook.Guard{Name: "pool-at-rest", Question: "is no operation changing the pool?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			cluster, err := r.cluster(ctx, run)
			if err != nil {
				return runbook.Unknown(err)
			}
			pool, _ := cluster.Pool(r.Pool)
			if !moving(pool.State) {
				return runbook.Yes("pool %q is %s", r.Pool, orNothing(pool.State)).WithEvidence(r.poolEvidence(cluster, pool))
			}
			now := r.Clock.Now()
			began, err := r.operationBegan(ctx, poolWrite, azure.PoolID(cluster.ID, r.Pool), now)
			if err != nil {
				return runbook.Unknown(err)
			}
			age := r.judgeAge("the pool's own operation", poolWrite, began, now)
			if age.Answer != runbook.AnswerHolds {
				return age
			}
			return runbook.No("%s and still runs: abort it (az aks nodepool operation-abort -g %s --cluster-name %s --nodepool-name %s), then run this again", age.Reason, r.ResourceGroup, r.Cluster, r.Pool).WithEvidence(age.Evidence...).WithOutcome(runbook.NeedsAttention)
		}}
}

// operationBegan finds the latest start of an operation on exactly one resource.
// Two weeks of a busy resource group would take too long to read.
func (r *recreation) operationBegan(ctx context.Context, operation, id string, now time.Time) (time.Time, error) {
	var began time.Time
	err := r.readActivity(ctx, id, now.Add(-operationSearch), func(event azure.Activity) bool {
		if strings.EqualFold(event.Operation, operation) && event.Status == "Started" &&
			azure.SameID(event.ResourceID, id) && event.At.After(began) {
			began = event.At
		}
		return true
	})
	return began, err
}

func (r *recreation) judgeAge(what, operation string, began, now time.Time) runbook.Finding {
	if began.IsZero() {
		return runbook.Unknownf("the Activity Log does not say when %s began (%s back)", what, operationSearch)
	}
	age := now.Sub(began)
	saw := runbook.NewEvidence("Activity Log: "+what, "", now, map[string]any{"operation": operation, "started": began.UTC()})
	if age < time.Duration(r.SettleAge) {
		return runbook.No("%s began %s ago; below %s it may be healthy", what, age.Round(time.Second), time.Duration(r.SettleAge)).WithEvidence(saw).
			WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("%s began %s ago", what, age.Round(time.Second)).WithEvidence(saw)
}

// underWay tells whether a provisioning state is that of a running operation.
func underWay(state string) bool { return state == "Updating" || state == "Upgrading" }
