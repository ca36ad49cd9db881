package fetch

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"salve/internal/backoff"
	"salve/internal/clock"
)

// pauses grow between tries; a shorter first one than that of a cloud's calls,
// because a node that boots is waiting.
func pauses() backoff.Exponential {
	return backoff.Exponential{First: 500 * time.Millisecond, Longest: 10 * time.Second, Factor: 1.8}
}

// patiently tries within the budget for as long as failing is of a kind that
// clears. A pause that would outlast the budget is not begun: the node boots on.
func (o *Fetcher) patiently(ctx context.Context, try func(context.Context) error) error {
	clk := o.settings.Clock
	deadline := clk.Now().Add(o.settings.Budget)
	var before error
	for n := 1; ; n++ {
		err := try(ctx)
		if ctx.Err() != nil && OutcomeOf(err) == Timeout && before != nil {
			return before // why it had to be tried again says more than that time ran out
		}
		if !clears(err) || n == o.settings.Tries {
			return err
		}
		pause := jittered(pauses().Pause(n, 0))
		var known *Error
		if errors.As(err, &known) {
			pause = max(pause, known.RetryAfter)
		}
		if !clk.Now().Add(pause).Before(deadline) || clock.Sleep(ctx, clk, pause) != nil {
			return err
		}
		before = err
	}
}

// jittered takes up to a half off a pause, so that a scale set that boots at once
// does not come back at once.
func jittered(pause time.Duration) time.Duration {
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // G404: jitter is no secret
}
