package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"salve/journal"
	"salve/runbook"
)

// errLeaseLost marks the end of a run whose target may be another runner's.
var errLeaseLost = errors.New("lease lost")

// leases are the locks on all that a run acts on, the target's first.
type leases []journal.Lease

// lock takes the leases of a runbook in one order for all runs, so that two runners
// never wait for each other, and gives the target's first. It gives all back when
// one is held by another.
func (e *Engine) lock(ctx context.Context, book runbook.Runbook, run string, above int64) (leases, error) {
	targets := append([]string{book.Target.ID}, book.Locks...)
	slices.Sort(targets)
	targets = slices.Compact(targets)
	held := make(leases, 0, len(targets))
	for _, target := range targets {
		lease, err := e.Journal.Lock(ctx, journal.Claim{Target: target, Holder: e.holder(run), Above: above})
		if err != nil {
			held.release(ctx)
			return nil, fmt.Errorf("taking the lease on %s: %w", target, err)
		}
		held = append(held, lease)
	}
	first := slices.Index(targets, book.Target.ID)
	held[0], held[first] = held[first], held[0]
	return held, nil
}

// Epoch is the fencing token of the run: the highest of all.
func (l leases) Epoch() int64 {
	var highest int64
	for _, lease := range l {
		highest = max(highest, lease.Epoch())
	}
	return highest
}

// Check fails with errLeaseLost when one of them is not shown to be ours any more.
func (l leases) Check(ctx context.Context) error {
	for _, lease := range l {
		if err := lease.Check(ctx); err != nil {
			return fmt.Errorf("%w: %w", errLeaseLost, err)
		}
	}
	return nil
}

func (l leases) release(ctx context.Context) {
	for _, lease := range l {
		// A lease that can't be given back ends with the process or by itself.
		_ = lease.Release(context.WithoutCancel(ctx))
	}
}
