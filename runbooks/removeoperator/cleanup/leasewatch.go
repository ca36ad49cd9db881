package cleanup

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// The holder of a lease is evaluated as other candidates do it (client-go's leaderelection:
// https://github.com/kubernetes/client-go/blob/master/tools/leaderelection/leaderelection.go, "observedTime"):
// by watching, on our own clock, whether the lease changes within its span. The times in it are the holder's
// clock, which is never compared with ours.
const (
	// leastSpan is watched for, however short the lease says it is: somebody may have edited it, and
	// holders of longer leases renew every 26 seconds.
	leastSpan = 30 * time.Second
	// longestSpan is watched for, however long the lease says it is. The longest that controllers
	// ask for is 137 seconds.
	longestSpan = 3 * time.Minute
	// leasePoll is the time between two reads of leases that are watched.
	leasePoll = 2 * time.Second
)

// lease is one reading of a Lease.
type lease struct {
	name    string
	uid     types.UID
	version string
	held    bool
	span    time.Duration
}

func leaseOf(found *coordinationv1.Lease) lease {
	seen := lease{
		name: found.Namespace + "/" + found.Name, uid: found.UID, version: found.ResourceVersion, span: leastSpan,
	}
	seen.held = found.Spec.HolderIdentity != nil && *found.Spec.HolderIdentity != ""
	if seconds := found.Spec.LeaseDurationSeconds; seconds != nil {
		seen.span = min(max(time.Duration(*seconds)*time.Second, leastSpan), longestSpan)
	}
	return seen
}

// leaseWatch remembers since when, on our own clock, each lease has been as it is. The zero leaseWatch has
// seen none.
type leaseWatch struct {
	mu   sync.Mutex
	seen map[types.UID]leaseSeen
}

type leaseSeen struct {
	version string
	since   time.Time
	// changed: it was seen to become what it is, so that somebody renewed it.
	changed bool
}

// take evaluates the leases that there are now. Renewed ones were seen to change within their span. While
// undecided is not zero, the others are silent only when they are the same after that time.
func (w *leaseWatch) take(leases []lease, now time.Time) (renewed []string, undecided time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.seen
	w.seen = make(map[types.UID]leaseSeen, len(leases))
	for _, one := range leases {
		seen, known := before[one.uid]
		if !known || seen.version != one.version {
			seen = leaseSeen{version: one.version, since: now, changed: known}
		}
		w.seen[one.uid] = seen
		left := one.span - now.Sub(seen.since)
		switch {
		case !one.held || left <= 0:
		case seen.changed:
			renewed = append(renewed, one.name)
		default:
			undecided = max(undecided, left)
		}
	}
	slices.Sort(renewed)
	return renewed, undecided
}

// renewedLeases watches the leases of the operator's namespace until it is known of each whether somebody
// renews it, and names those. Leases that were silent for their span in an earlier call, and have not
// changed since, are not watched again.
func (o *Operator) renewedLeases(ctx context.Context, report func(runbook.Progress)) ([]string, error) {
	for {
		leases, err := o.readLeases(ctx)
		if err != nil {
			return nil, err
		}
		renewed, undecided := o.leases.take(leases, o.Clock.Now())
		if undecided == 0 {
			return renewed, nil
		}
		if report != nil {
			report(runbook.Progress{
				Text: fmt.Sprintf("watching the operator's leases for %s more", undecided.Round(time.Second)),
			})
		}
		if err := clock.Sleep(ctx, o.Clock, min(leasePoll, undecided)); err != nil {
			return nil, err
		}
	}
}

func (o *Operator) readLeases(ctx context.Context) (all []lease, _ error) {
	own := kube.Scope{Namespace: o.Namespace}
	list := o.Client.CoordinationV1().Leases(own.Namespace).List
	err := kube.RetryExpired(func() error {
		all = nil
		return kube.ListPages(ctx, o.Cluster, "listing the operator's leases", own.Options(), list,
			func(page *coordinationv1.LeaseList) error {
				for i := range page.Items {
					all = append(all, leaseOf(&page.Items[i]))
				}
				return nil
			})
	})
	return all, err
}
