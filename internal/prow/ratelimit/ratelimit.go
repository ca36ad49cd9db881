package ratelimit

import (
	"context"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/github"
	"salve/runbook"
)

// Calls are what a plan needs of GitHub's rate limit, how many are left to others, and what is left.
type Calls struct {
	Needed, Reserve int
	Left            github.Rate
}

// Suffice decides whether there is room for the whole plan. The hint says how to make the plan smaller.
func (c Calls) Suffice(hint string) runbook.Finding {
	left := c.Left.Remaining - c.Reserve
	switch {
	case left >= c.Needed:
		return runbook.Yes("calls that the plan needs: %d at most; left: %d", c.Needed, left)
	case c.Left.Limit-c.Reserve >= c.Needed:
		return runbook.No("calls that the plan needs: %d at most; left: %d, until %s", c.Needed, left,
			c.Left.Reset.UTC().Format(time.RFC3339)).WithOutcome(runbook.Deferred)
	}
	return runbook.No("calls that the plan needs: %d at most; GitHub allows %d an hour. hint: %s, or "+
		"--override budget-suffices=REASON: then the run waits for each hour", c.Needed, c.Left.Limit-c.Reserve, hint).
		WithOutcome(runbook.NeedsAttention)
}

// Gauge says what is left by the last answers: *github.Client.
type Gauge interface{ Remaining() github.Rate }

// Await waits until as much is left as the next part of a plan needs, or half of a window where that is less. A
// guard that is refused could not wait so long.
func Await(ctx context.Context, clk clock.Clock, gauge Gauge, reserve, least int, report func(string)) error {
	for {
		left := gauge.Remaining()
		until := left.PausedUntil
		if left.Known && left.Remaining-reserve < min(least, (left.Limit-reserve)/2) && left.Reset.After(until) {
			until = left.Reset
		}
		wait := until.Sub(clk.Now())
		if wait <= 0 {
			return nil
		}
		report("waiting for GitHub's rate limit until " + until.UTC().Format(time.RFC3339))
		if err := clock.Sleep(ctx, clk, wait); err != nil {
			return err
		}
	}
}
