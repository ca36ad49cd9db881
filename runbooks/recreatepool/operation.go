package recreatepool

import (
	"time"

	"salve/azure"
	"salve/runbook"
)

const (
	clusterWrite = "Microsoft.ContainerService/managedClusters/write"
	poolWrite    = "Microsoft.ContainerService/managedClusters/agentPools/write"
)

// running is what is known of the operation that a cluster or a pool is in.
type running struct {
	// state of the cluster or the pool, with the evidence for it.
	state    string
	evidence runbook.Evidence
	// what, operation and start are those of the operation; they are set while one
	// runs. The start is zero when the Activity Log does not tell it.
	what, operation string
	start, now      time.Time
	settleAge       time.Duration
}

// old tells whether the operation is too old to be healthy. Younger ones are not
// fought.
func (o running) old() runbook.Finding {
	if o.start.IsZero() {
		return runbook.Unknownf("the Activity Log does not say when %s began (%s back)", o.what, operationSearch)
	}
	// The start, not the age: evidence of the same state is the same at any time.
	saw := runbook.NewEvidence("Activity Log: "+o.what, "", o.now, map[string]any{"operation": o.operation,
		"started": o.start.UTC()})
	age := o.now.Sub(o.start)
	if age < o.settleAge {
		return runbook.No("%s began %s ago; below %s it may be healthy", o.what, age.Round(time.Second), o.settleAge).
			WithEvidence(saw).WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("%s began %s ago", o.what, age.Round(time.Second)).WithEvidence(saw)
}

// operationStuck asks whether an operation that is running on the cluster is old
// enough to be aborted.
func (r *recreation) operationStuck() runbook.Guard {
	read := func(rd *reader) running {
		cluster := rd.cluster()
		seen := running{state: cluster.State, evidence: clusterEvidence(cluster), what: "the cluster's operation"}
		if operating(cluster.State) {
			rd.age(&seen, clusterWrite, cluster.ID)
		}
		return seen
	}
	return ask(r, "operation-stuck", "is the cluster's operation, if one is running, too old to be healthy?", read,
		operationStuck)
}

// age reads when the operation on a resource began.
func (rd *reader) age(seen *running, operation, id string) {
	seen.operation, seen.now, seen.settleAge = operation, rd.Clock.Now(), time.Duration(rd.SettleAge)
	rd.attempt(func() (err error) {
		seen.start, err = rd.operationStart(rd.ctx, operation, id, seen.now)
		return err
	})
}

func operationStuck(seen running) runbook.Finding {
	if !operating(seen.state) {
		return runbook.Yes("no operation is running on the cluster").WithEvidence(seen.evidence)
	}
	return seen.old()
}

// poolAtRest asks whether no operation of the pool's own is running, which an
// abort of the cluster's does not end.
func (r *recreation) poolAtRest() runbook.Guard {
	read := func(rd *reader) running {
		cluster := rd.cluster()
		pool, _ := cluster.Pool(rd.Pool) // pool-wedged asks whether it is there
		seen := running{state: pool.State, evidence: poolEvidence(cluster, pool), what: "the pool's own operation"}
		if changing(pool.State) {
			rd.age(&seen, poolWrite, azure.PoolID(cluster.ID, rd.Pool))
		}
		return seen
	}
	decide := func(seen running) runbook.Finding { return poolAtRest(seen, r.Inputs) }
	return ask(r, "pool-at-rest", "is no operation changing the pool?", read, decide)
}

func poolAtRest(seen running, in Inputs) runbook.Finding {
	if !changing(seen.state) {
		return runbook.Yes("pool %q is %s", in.Pool, orNone(seen.state)).WithEvidence(seen.evidence)
	}
	old := seen.old()
	if old.Answer != runbook.AnswerHolds {
		return old
	}
	return runbook.No("%s and still runs. hint: az aks nodepool operation-abort -g %s --cluster-name %s "+
		"--nodepool-name %s, then run this again",
		old.Reason, in.ResourceGroup, in.Cluster, in.Pool).WithEvidence(old.Evidence...).WithOutcome(runbook.NeedsAttention)
}
