package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/apierr"
)

// DefaultKeep is how many closed runs of a target are kept.
const DefaultKeep = 100

// Retention says which closed runs are kept. Open runs always are.
type Retention struct {
	// Keep is the number of the newest closed runs of each target; zero for all.
	Keep int
	// Since keeps runs that were closed then or later; zero for none of them.
	Since time.Time
	// Broken deletes records that can't be believed and that no lease names.
	Broken bool
}

// Prune deletes what is not to be kept, and gives the names of those runs. It never
// deletes a run that is open, or that the lease of its target names as open.
func Prune(ctx context.Context, store Store, retention Retention) ([]string, error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the journal: %w", err)
	}
	var pruned []string
	kept := map[string]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		prune, err := retention.applies(ctx, store, runs[i], kept)
		if err == nil && prune {
			err = store.Delete(ctx, runs[i])
		}
		if err != nil {
			return pruned, fmt.Errorf("pruning run %q: %w", runs[i], err)
		}
		if prune {
			pruned = append(pruned, runs[i])
		}
	}
	return pruned, nil
}

// applies tells whether a run is to be deleted; kept counts the closed runs of each
// target that stay.
func (r Retention) applies(ctx context.Context, store Store, run string, kept map[string]int) (bool, error) {
	record, err := Load(ctx, store, run)
	target, disbelieved := "", false
	var broken *BrokenError
	var unsealed *UnsealedError
	switch {
	case errors.As(err, &broken):
		target, disbelieved = broken.Target, true
	case errors.As(err, &unsealed) && unsealed.Format > Format:
		return false, nil // a newer version believes it
	case errors.As(err, &unsealed):
		target, disbelieved = unsealed.Target, true
	case err != nil:
		return false, err
	case len(record.Entries) == 0:
		disbelieved = true // a process that died before the first entry, or a cut: a lease that names it says so
	default:
		target = record.Header.Target.ID
	}
	if disbelieved {
		return r.disbelieved(ctx, store, target, run)
	}
	if record.Closed == nil || record.MigratedTo != nil || named(ctx, store, target, run) {
		return false, nil
	}
	last := record.Entries[len(record.Entries)-1].At
	if r.Keep > 0 && kept[target] >= r.Keep || !r.Since.IsZero() && last.Before(r.Since) {
		return true, nil
	}
	kept[target]++
	return false, nil
}

// disbelieved tells whether a record that can't be believed is to be deleted. It may
// not say whose target it is about, so that all leases are asked for the run.
func (r Retention) disbelieved(ctx context.Context, store Store, target, run string) (bool, error) {
	if !r.Broken || named(ctx, store, target, run) {
		return false, nil
	}
	open, err := store.OpenRuns(ctx)
	if err != nil {
		return false, fmt.Errorf("finding the lease that may name it: %w", err)
	}
	return !slices.ContainsFunc(open, func(o OpenRun) bool { return o.Run == run }), nil
}

// named tells whether a lease names a run as open. One that can't be read may.
func named(ctx context.Context, locker Locker, target, run string) bool {
	if target == "" {
		return false
	}
	peeked, err := locker.Peek(ctx, target)
	if err != nil {
		return apierr.ClassOf(err) != apierr.Missing
	}
	return peeked.Open != nil && peeked.Open.Run == run && !peeked.Open.Closed
}
