package repairprotection

import (
	"context"

	"salve/internal/prow/ratelimit"
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

func (r *repair) budgetSuffices() runbook.Guard {
	guard := runbook.AskUnderWay("budget-suffices", "does what is left of GitHub's rate limit suffice for the whole plan?",
		r.begun, r.calls, budgetSuffices)
	guard.OnResume = true
	return guard
}

func budgetSuffices(calls ratelimit.Calls) runbook.Finding {
	return calls.Suffice("--repo ORG/NAME for a part of it")
}

func (r *repair) calls(ctx context.Context, run runbook.Run) (ratelimit.Calls, error) {
	limits, err := r.github.RateLimits(ctx)
	if err != nil {
		return ratelimit.Calls{}, err
	}
	needed := callsBesides + callsOfPull*len(r.in.Pulls)
	for i := range r.rules {
		needed += callsOfChange
		if run.Step(r.stepName(i)).Done {
			needed -= callsOfChange - 1
		}
	}
	return ratelimit.Calls{Needed: needed, Reserve: r.reserve, Left: limits.Core}, nil
}

// pace waits until what is left suffices for the next branch, or after the last one for the checks.
func (r *repair) pace(ctx context.Context, run runbook.Run, last bool) error {
	least := 2 * callsOfChange
	if last {
		least = callsBesides + callsOfPull*len(r.in.Pulls)
	}
	return ratelimit.Await(ctx, r.cluster.Cluster.Clock, r.github, r.reserve, least, func(text string) {
		run.Report(runbook.Progress{Text: text})
	})
}
