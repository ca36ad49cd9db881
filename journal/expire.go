package journal

import (
	"context"
	"fmt"
	"time"
)

// DefaultAge is how long closed runs are kept at least.
const DefaultAge = 90 * 24 * time.Hour

// atMost is how many runs one run deletes: it is not to be kept waiting for it.
const atMost = 20

// Expire deletes what a journal doesn't keep by itself, at the end of the run current:
// of all runs but the newest DefaultKeep those that ended longer than age ago. Kept are
// open runs, records that can't be believed, runs that exported something, as that may be
// the only copy of what was deleted, and of each target the newest run that changed
// something, which tells what is there. It reads no record of a run that is kept by its
// place or by the time in its name.
func Expire(ctx context.Context, store Store, now time.Time, age time.Duration, current string) ([]string, error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the journal: %w", err)
	}
	expiry := &expiry{store: store, before: now.Add(-age), newest: map[string]string{}}
	var expired []string
	for _, run := range runs[:max(0, len(runs)-DefaultKeep)] {
		if began, told := beganAt(run); told && !began.Before(expiry.before) {
			break // names sort by time: all that follow are younger
		}
		if len(expired) == atMost {
			break
		}
		if run == current || !expiry.applies(ctx, run) {
			continue
		}
		if err := store.Delete(ctx, run); err != nil {
			return expired, fmt.Errorf("deleting run %q: %w", run, err)
		}
		expired = append(expired, run)
	}
	return expired, nil
}

// beganAt is the time in the name that the engine gives to a run.
func beganAt(run string) (time.Time, bool) {
	const layout = "20060102-150405"
	if len(run) < len(layout) {
		return time.Time{}, false
	}
	began, err := time.Parse(layout, run[:len(layout)])
	return began, err == nil
}

type expiry struct {
	store  Store
	before time.Time
	// newest are the runs that the leases of targets name, where those changed something.
	newest map[string]string
}

// applies tells whether a run is to be deleted.
func (e *expiry) applies(ctx context.Context, run string) bool {
	record, err := Load(ctx, e.store, run)
	if err != nil || len(record.Entries) == 0 || record.Closed == nil || record.MigratedTo != nil ||
		len(record.exports) > 0 {
		return false
	}
	ended, target := record.Entries[len(record.Entries)-1].At, record.Header.Target.ID
	if !ended.Before(e.before) || named(ctx, e.store, target, run) {
		return false
	}
	newest := e.changed(ctx, target)
	return !record.Changed() || newest != "" && newest != run
}

// changed is the newest run of a target if it changed something; empty when it did not or
// that can't be seen.
func (e *expiry) changed(ctx context.Context, target string) string {
	newest, known := e.newest[target]
	if known {
		return newest
	}
	peeked, err := e.store.Peek(ctx, target)
	if err == nil && peeked.Open != nil && peeked.Open.Location == e.store.Location() {
		if record, err := Load(ctx, e.store, peeked.Open.Run); err == nil && record.Changed() {
			newest = record.Run
		}
	}
	e.newest[target] = newest
	return newest
}
