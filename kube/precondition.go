package kube

import (
	"context"
	"fmt"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
)

const defaultPreconditionInterval = 15 * time.Second

// precondition evaluates what must hold while a drain evicts pods. It is evaluated
// beside the drain's loop, which never waits for it but requests no eviction on an
// answer that is older than two intervals.
type precondition struct {
	clock    clock.Clock
	check    func(context.Context) error
	interval time.Duration
	// results has one value for each evaluation: nil when it held.
	results chan error
	// heldAt is when the loop was last told that it holds.
	heldAt time.Time
}

func newPrecondition(clk clock.Clock, options DrainOptions) precondition {
	interval := options.PreconditionInterval
	if interval <= 0 {
		interval = defaultPreconditionInterval
	}
	return precondition{clock: clk, check: options.Precondition, interval: interval, results: make(chan error)}
}

// evaluate evaluates the precondition, at once and then at each interval, until it
// fails or ctx ends. One that panics has failed.
func (p *precondition) evaluate(ctx context.Context) {
	if p.check == nil {
		return
	}
	for {
		err := apierr.Recovered(func() error { return p.check(ctx) })
		if err != nil {
			err = fmt.Errorf("precondition failed: %w", err)
		}
		select {
		case p.results <- err:
		case <-ctx.Done():
			return
		}
		if err != nil || clock.Sleep(ctx, p.clock, p.interval) != nil {
			return
		}
	}
}

// holds tells whether the precondition held recently.
func (p *precondition) holds(now time.Time) bool {
	return p.check == nil || !p.heldAt.IsZero() && now.Sub(p.heldAt) <= 2*p.interval
}
