package unblockpulls

import (
	"context"
	"time"

	"salve/internal/clock"
	"salve/internal/prow/ratelimit"
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

func (u *unblocking) budgetSuffices() runbook.Guard {
	guard := runbook.AskUnderWay("budget-suffices", "does what is left of GitHub's rate limit suffice for the whole plan?",
		u.begun, u.calls, budgetSuffices)
	guard.OnResume = true
	return guard
}

func budgetSuffices(calls ratelimit.Calls) runbook.Finding {
	return calls.Suffice("--repo OWNER/NAME or --pull OWNER/NAME#NUMBER for a part of it")
}

func (u *unblocking) calls(ctx context.Context, run runbook.Run) (ratelimit.Calls, error) {
	limits, err := u.github.RateLimits(ctx)
	if err != nil {
		return ratelimit.Calls{}, err
	}
	needed := callsOfBranch * len(u.plannedBranches())
	for _, action := range u.actions {
		needed += callsOfChecks
		if !run.Step(action.name).Done {
			needed += callsOfAction
		}
	}
	return ratelimit.Calls{Needed: needed, Reserve: u.reserve, Left: limits.Core}, nil
}

// pace waits until the next may be asked for: a part of a minute after this one, with enough left of GitHub's limit,
// and with room for its job.
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
	report := func(text string) { run.Report(runbook.Progress{Text: text}) }
	if err := ratelimit.Await(ctx, clk, a.github, a.reserve, least, report); err != nil || last {
		return err
	}
	return a.awaitRoom(ctx, run, a.actions[a.at+1])
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
		finding := u.nextJob(seen, next).hasRoom(seen.all)
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
