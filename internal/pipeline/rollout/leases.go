package rollout

import (
	"context"
	"errors"
	"fmt"

	"salve/journal"
)

// leases are the locks on all that a run acts on.
type leases struct{ held []journal.Lease }

// lock takes the leases in their order, so that two runners never wait for each
// other. Their epochs are above all that the target's records were written under.
func (r *Runner) lock(ctx context.Context, plan *Plan, run string) (*leases, error) {
	past, err := r.past(ctx, plan)
	if err != nil {
		return nil, err
	}
	l := &leases{}
	for _, target := range plan.locks() {
		lease, err := r.Journal.Lock(ctx, journal.Claim{Target: target, Holder: r.holder(run), Above: past.epoch})
		if err != nil {
			l.release(ctx)
			return nil, fmt.Errorf("taking the lease: %w", err)
		}
		l.held = append(l.held, lease)
	}
	return l, nil
}

// epoch is the highest of all.
func (l *leases) epoch() int64 {
	var highest int64
	for _, lease := range l.held {
		highest = max(highest, lease.Epoch())
	}
	return highest
}

// check fails when one of them is not ours any more.
func (l *leases) check(ctx context.Context) error {
	var lost error
	for _, lease := range l.held {
		lost = errors.Join(lost, lease.Check(ctx))
	}
	return lost
}

func (l *leases) release(ctx context.Context) {
	for _, lease := range l.held {
		// A lease that can't be given back ends with the process or by itself.
		_ = lease.Release(context.WithoutCancel(ctx))
	}
}
