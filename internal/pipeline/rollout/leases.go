package rollout

import (
	"context"
	"fmt"

	"salve/journal"
)

// leases are the locks on all that a run acts on, as one.
type leases struct{ lease journal.Lease }

// lock takes the leases. Their epochs are above all that the target's records were
// written under.
func (r *Runner) lock(ctx context.Context, plan *Plan, run string) (*leases, error) {
	past, err := r.past(ctx, plan)
	if err != nil {
		return nil, err
	}
	claims := []journal.Claim{{Target: plan.Target().ID, Holder: r.holder(run), Above: past.epoch}}
	for _, target := range plan.locks() {
		if target != plan.Target().ID {
			claims = append(claims, journal.Claim{Target: target, Holder: r.holder(run), Above: past.epoch})
		}
	}
	lease, err := journal.LockAll(ctx, r.Journal, claims...)
	if err != nil {
		return nil, fmt.Errorf("taking the lease: %w", err)
	}
	return &leases{lease}, nil
}

// check fails when one of them is not ours any more.
func (l *leases) check(ctx context.Context) error { return l.lease.Check(ctx) }

func (l *leases) release(ctx context.Context) {
	// A lease that can't be given back ends with the process or by itself.
	_ = l.lease.Release(context.WithoutCancel(ctx))
}
