package engine

import (
	"context"
	"errors"
	"fmt"

	"salve/journal"
	"salve/runbook"
)

// errLeaseLost marks the end of a run whose target may be another runner's.
var errLeaseLost = errors.New("lease lost")

// leases are the locks on all that a run acts on, as one. The target's names the run.
type leases struct{ journal.Lease }

// lock takes the leases of a runbook in one order for all runs, so that two runners
// never wait for each other. It gives all back when one is held by another.
func (e *Engine) lock(ctx context.Context, book runbook.Runbook, run string, above int64) (leases, error) {
	claims := []journal.Claim{{Target: book.Target.ID, Holder: e.holder(run), Above: above}}
	for _, target := range book.Locks {
		claims = append(claims, journal.Claim{Target: target, Holder: e.holder(run), Above: above})
	}
	lease, err := journal.LockAll(ctx, e.Journal, claims...)
	if err != nil {
		return leases{}, fmt.Errorf("taking the lease: %w", err)
	}
	return leases{lease}, nil
}

// Check fails with errLeaseLost when one of them is not shown to be ours any more.
func (l leases) Check(ctx context.Context) error {
	if err := l.Lease.Check(ctx); err != nil {
		return fmt.Errorf("%w: %w", errLeaseLost, err)
	}
	return nil
}

func (l leases) release(ctx context.Context) {
	if l.Lease == nil {
		return // they were given back to get higher ones, which another has now
	}
	// A lease that can't be given back ends with the process or by itself.
	_ = l.Lease.Release(context.WithoutCancel(ctx))
}
