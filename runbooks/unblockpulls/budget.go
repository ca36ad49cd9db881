package unblockpulls

import (
	"context"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/github"
	"salve/runbook"
)

const (
	// callsOfAction are for one context: twice what it stands like, the comment, and what came of it.
	callsOfAction = 25
	// callsOfChecks are for one context at the end.
	callsOfChecks = 10
	// callsOfBranch are for the last commits of a branch, where a context has no job.
	callsOfBranch = 45
)

// calls is what the run still needs of GitHub's rate limit, and what is left.
type calls struct {
	needed, reserve int
	left            github.Rate
}

func (u *unblocking) budgetSuffices() runbook.Guard {
	guard := runbook.Ask("budget-suffices", "does what is left of GitHub's rate limit suffice for the whole plan?",
		u.calls, calls.suffice)
	guard.OnResume = true
	return u.onceBegun(guard)
}

func (u *unblocking) calls(ctx context.Context, run runbook.Run) (calls, error) {
	limits, err := u.github.RateLimits(ctx)
	if err != nil {
		return calls{}, err
	}
	needed := callsOfBranch * len(u.plannedBranches())
	for _, action := range u.actions {
		needed += callsOfChecks
		if !run.Step(action.name).Done {
			needed += callsOfAction
		}
	}
	return calls{needed: needed, reserve: u.reserve, left: limits.Core}, nil
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
	return runbook.No("calls that the plan needs: %d at most; GitHub allows %d an hour. hint: --repo OWNER/NAME or "+
		"--pull OWNER/NAME#NUMBER for a part of it, or --override budget-suffices=REASON: then the run waits for each hour",
		c.needed, c.left.Limit-c.reserve).WithOutcome(runbook.NeedsAttention)
}

// pace waits until the next may be asked for: a part of a minute after this one, with enough left of GitHub's limit,
// and with room for its job. A guard that is refused could not wait so long.
func (a *action) pace(ctx context.Context, run runbook.Run) error {
	clk := a.prow.cluster.Clock
	last := a.at == len(a.actions)-1
	if !a.asked.IsZero() && !last {
		pause := time.Minute/time.Duration(a.in.Pace) - clk.Since(a.asked)
		if err := clock.Sleep(ctx, clk, pause); err != nil {
			return err
		}
	}
	least := callsOfAction
	if last {
		least = callsOfChecks * len(a.actions)
	}
	if err := a.awaitLimit(ctx, run, least); err != nil || last {
		return err
	}
	return a.awaitRoom(ctx, run, a.actions[a.at+1])
}

func (u *unblocking) awaitLimit(ctx context.Context, run runbook.Run, least int) error {
	clk := u.prow.cluster.Clock
	for {
		left := u.github.Remaining()
		until := left.PausedUntil
		if left.Known && left.Remaining-u.reserve < min(least, (left.Limit-u.reserve)/2) && left.Reset.After(until) {
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

const (
	// roomPatience is how long the next job may have to wait for others to end.
	roomPatience = 30 * time.Minute
	roomEvery    = 15 * time.Second
)

// awaitRoom waits until the next job would not wait for others. When it would all the same, the guard says so.
func (u *unblocking) awaitRoom(ctx context.Context, run runbook.Run, next *action) error {
	clk := u.prow.cluster.Clock
	for began := clk.Now(); clk.Since(began) < roomPatience; {
		seen, err := u.prow.work(ctx)
		if err != nil {
			return err
		}
		finding := u.roomFor(seen, next)
		if finding.Answer == runbook.AnswerHolds {
			return nil
		}
		run.Report(runbook.Progress{Text: "waiting: " + finding.Reason})
		if err := clock.Sleep(ctx, clk, roomEvery); err != nil {
			return err
		}
	}
	return nil
}
