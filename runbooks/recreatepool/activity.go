package recreatepool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/runbook"
)

const (
	// roleSpread is how long a refusal is waited out: a new role assignment takes up to ten minutes
	// to spread, mostly less than five
	// (https://learn.microsoft.com/azure/role-based-access-control/troubleshooting).
	roleSpread = 5 * time.Minute
	// skew is how far the service's clock may be ahead of ours.
	skew = 5 * time.Minute
	// operationSearch is how far back the start of an operation is looked for.
	operationSearch = 14 * 24 * time.Hour
)

// readActivity reads the log of a resource group or a resource since a time, and waits while the
// role that allows it spreads: once for all questions, so that a refusal that an operator overrode
// doesn't cost five minutes at each step.
func (r *recreation) readActivity(
	ctx context.Context, of string, since time.Time, visit func(azure.Activity) (more bool),
) error {
	pauses := backoff.Exponential{First: 5 * time.Second, Longest: time.Minute, Factor: 2}
	for n := 1; ; n++ {
		query := azure.ActivityQuery{From: since, To: r.Clock.Now().Add(skew), Of: of}
		err := r.Azure.ReadActivity(ctx, query, visit)
		if apierr.ClassOf(err) != apierr.Denied || !azure.RefusedAccess(err) {
			r.deniedSince = time.Time{}
			return err
		}
		if r.deniedSince.IsZero() {
			r.deniedSince = r.Clock.Now()
		}
		denied, pause := r.Clock.Since(r.deniedSince), pauses.Pause(n, apierr.RetryAfter(err))
		if denied+pause > roleSpread || clock.Sleep(ctx, r.Clock, pause) != nil {
			return fmt.Errorf("still refused after %s: %w", denied.Round(time.Second), err)
		}
	}
}

// readOperationStart finds when the operation that is running on exactly one resource began; zero when the log
// doesn't say. The log of its group would take too long to read.
func (r *recreation) readOperationStart(ctx context.Context, operation, id string) (time.Time, error) {
	seen := operationLog{}
	since := r.Clock.Now().Add(-operationSearch)
	err := r.readActivity(ctx, id, since, func(event azure.Activity) bool {
		if strings.EqualFold(event.Operation, operation) && azure.SameID(event.ResourceID, id) {
			seen.add(event)
		}
		return true
	})
	return seen.running(), err
}

// operationLog holds the start and the end of each operation on one resource, by operation ID. The log lags by
// minutes: while a younger operation runs already, the newest start may be that of one that has ended.
type operationLog map[string]operationSpan

type operationSpan struct {
	start time.Time
	ended bool
}

// endStatuses are those of an operation's last event
// (https://learn.microsoft.com/azure/azure-monitor/platform/activity-log-schema).
var endStatuses = []string{"Succeeded", "Failed", "Canceled"}

func (l operationLog) add(event azure.Activity) {
	span := l[event.OperationID]
	span.ended = span.ended || slices.Contains(endStatuses, event.Status)
	if event.Status == "Started" && event.At.After(span.start) {
		span.start = event.At
	}
	l[event.OperationID] = span
}

// running is the latest start of an operation without an end; zero when there is none.
func (l operationLog) running() (start time.Time) {
	for _, span := range l {
		if !span.ended && span.start.After(start) {
			start = span.start
		}
	}
	return start
}

// operation is what is known of the operation that a resource is in.
type operation struct {
	reading
	What     string `json:"what"`
	Kind     string `json:"kind"`
	resource string `json:"-"`
	// Running: there is one. The start is zero when the Activity Log does not tell it.
	Running bool      `json:"running"`
	Start   time.Time `json:"start"`
}

func ofCluster(seen reading) operation {
	return operation{
		reading: seen, What: "the cluster's operation", Kind: "Microsoft.ContainerService/managedClusters/write",
		resource: seen.clusterID(), Running: operating(seen.AKS.State),
	}
}

// ofPool is about the pool's own operation, which an abort of the cluster's does not end. Whether
// the pool is there, pool-wedged asks.
func ofPool(seen reading) operation {
	pool, _ := seen.source()
	return operation{
		reading: seen, What: "the pool's own operation", Kind: "Microsoft.ContainerService/managedClusters/agentPools/write",
		resource: seen.poolID(), Running: changing(pool.State),
	}
}

func (r *recreation) readOperation(of func(reading) operation) func(context.Context, runbook.Run) (operation, error) {
	return func(ctx context.Context, run runbook.Run) (operation, error) {
		seen, err := r.read(ctx, run)
		now := of(seen)
		if err == nil && now.Running {
			now.Start, err = r.readOperationStart(ctx, now.Kind, now.resource)
		}
		return now, err
	}
}

// operationStuck holds when no operation is running on the cluster, or one that is old enough to be
// aborted.
func operationStuck(seen operation) runbook.Finding {
	if !seen.Running {
		return runbook.Yes("no operation is running on the cluster").WithEvidence(seen.clusterEvidence())
	}
	return seen.old()
}

// poolAtRest holds when no operation is running on the pool.
func poolAtRest(seen operation) runbook.Finding {
	if pool, _ := seen.source(); !seen.Running {
		return runbook.Yes("pool %q is %s", seen.Pool, orNone(pool.State)).WithEvidence(seen.poolEvidence(pool))
	}
	old := seen.old()
	if old.Answer != runbook.AnswerHolds {
		return old
	}
	return runbook.No("%s and still runs. hint: az aks nodepool operation-abort -g %s --cluster-name %s "+
		"--nodepool-name %s, then run this again", old.Reason, seen.ResourceGroup, seen.Cluster, seen.Pool).
		WithEvidence(old.Evidence...).WithOutcome(runbook.NeedsAttention)
}

// old holds when the operation is too old to be healthy. Younger ones are not fought.
func (o operation) old() runbook.Finding {
	if o.Start.IsZero() {
		return runbook.Unknownf("the Activity Log does not say when %s began: in %s it has none without an end. "+
			"hint: the log lags by minutes, run this again later", o.What, operationSearch)
	}
	age := o.Now.Sub(o.Start)
	finding := runbook.Yes("%s began %s ago", o.What, age.Round(time.Second))
	if least := o.SettleAge.Duration; age < least {
		finding = runbook.No("%s began %s ago; below %s it may be healthy", o.What, age.Round(time.Second), least).
			WithOutcome(runbook.Deferred)
	}
	// The start, not the age: evidence of the same state is the same at any time.
	return finding.WithEvidence(runbook.NewEvidence("Activity Log: "+o.What, "", o.Now,
		map[string]any{"operation": o.Kind, "started": o.Start.UTC()}))
}
