package repairprotection

import (
	"context"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/github"
	"salve/runbook"
)

const (
	// callsOfChange are for one branch: what is there, the write, what is there then.
	callsOfChange = 3
	// callsOfPull are for one pull request of the sample: itself, the rules, its statuses and its check runs.
	callsOfPull = 4
	// callsBesides are for lists.
	callsBesides = 20
)

// calls is what the run still needs of GitHub's rate limit, and what is left.
type calls struct {
	needed, reserve int
	left            github.Rate
	now             time.Time
}

func (r *repair) budgetSuffices() runbook.Guard {
	guard := runbook.Ask("budget-suffices", "does what is left of GitHub's rate limit suffice for the whole plan?",
		r.calls, calls.suffice)
	guard.OnResume = true
	return r.onceBegun(guard)
}

func (r *repair) calls(ctx context.Context, run runbook.Run) (calls, error) {
	limits, err := r.github.RateLimits(ctx)
	if err != nil {
		return calls{}, err
	}
	needed := callsBesides + callsOfPull*len(r.in.Pulls)
	for i := range r.rules {
		needed += callsOfChange
		if run.Step(r.stepName(i)).Done {
			needed -= callsOfChange - 1
		}
	}
	return calls{needed: needed, reserve: r.reserve, left: limits.Core, now: r.cluster.Cluster.Clock.Now()}, nil
}

func (c calls) suffice() runbook.Finding {
	left := c.left.Remaining - c.reserve
	switch {
	case left >= c.needed:
		return runbook.Yes("calls that the plan needs: %d at most; left: %d", c.needed, left)
	case c.left.Limit-c.reserve >= c.needed:
		return runbook.No("calls that the plan needs: %d at most; left: %d, until %s", c.needed, left,
			c.left.Reset.UTC().Format(time.RFC3339)).WithOutcome(runbook.Deferred)
	}
	return runbook.No("calls that the plan needs: %d at most; GitHub allows %d an hour. hint: --repo ORG/NAME for a part "+
		"of it, or --override budget-suffices=REASON: then the run waits for each hour", c.needed, c.left.Limit-c.reserve).
		WithOutcome(runbook.NeedsAttention)
}

// pace waits until what is left suffices for the next branch, or after the last one for the checks: a guard that is
// refused could not wait so long.
func (r *repair) pace(ctx context.Context, run runbook.Run, last bool) error {
	least := 2 * callsOfChange
	if last {
		least = callsBesides + callsOfPull*len(r.in.Pulls)
	}
	clk := r.cluster.Cluster.Clock
	for {
		left := r.github.Remaining()
		until := left.PausedUntil
		if left.Known && left.Remaining-r.reserve < min(least, (left.Limit-r.reserve)/2) && left.Reset.After(until) {
			until = left.Reset
		}
		wait := until.Sub(clk.Now())
		if wait <= 0 {
			return nil
		}
		run.Report(runbook.Progress{Text: "waiting for GitHub's rate limit until " + until.UTC().Format(time.RFC3339)})
		if err := clock.Sleep(ctx, clk, wait); err != nil {
			return err
		}
	}
}
