package recreatepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
)

const (
	// roleSpread is how long a refusal is waited out: a new role assignment takes up
	// to ten minutes to spread, mostly less than five
	// (https://learn.microsoft.com/azure/role-based-access-control/troubleshooting).
	roleSpread = 5 * time.Minute
	// skew is how far the service's clock may be ahead of ours.
	skew = 5 * time.Minute
	// operationSearch is how far back the start of an operation is looked for.
	operationSearch = 14 * 24 * time.Hour
)

var rolesSpreading = backoff.Exponential{First: 5 * time.Second, Longest: time.Minute, Factor: 2}

// readActivity reads the log of a resource group or a resource since a time, and
// waits while the role that allows it spreads: once for all questions, so that a
// refusal that an operator overrode doesn't cost five minutes at each step.
func (r *recreation) readActivity(ctx context.Context, of string, since time.Time,
	visit func(azure.Activity) bool) error {
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
		denied, pause := r.Clock.Since(r.deniedSince), rolesSpreading.Pause(n, apierr.RetryAfter(err))
		if denied+pause > roleSpread || clock.Sleep(ctx, r.Clock, pause) != nil {
			return fmt.Errorf("still refused after %s: %w", denied.Round(time.Second), err)
		}
	}
}

// operationStart finds the latest start of an operation on exactly one resource. The
// log of its group would take too long to read.
func (r *recreation) operationStart(ctx context.Context, operation, id string, now time.Time) (time.Time, error) {
	var start time.Time
	err := r.readActivity(ctx, id, now.Add(-operationSearch), func(event azure.Activity) bool {
		if strings.EqualFold(event.Operation, operation) && event.Status == "Started" &&
			azure.SameID(event.ResourceID, id) && event.At.After(start) {
			start = event.At
		}
		return true
	})
	return start, err
}
