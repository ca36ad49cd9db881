package unblockpulls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/blocked"
	"salve/internal/prow/brief"
	"salve/internal/prow/github"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

func (u *unblocking) contextsThere() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) ([]state, error) {
		var all []state
		for _, action := range u.actions {
			seen, err := action.look(ctx, run)
			if err != nil {
				return nil, err
			}
			all = append(all, seen)
		}
		return all, nil
	}
	return runbook.Ask("contexts-there", "is each context on the same head, decided or with a job that runs?", read,
		contextsThere)
}

// contextsThere: that a head moved, or is waited for no more, is no failure of what was asked for.
func contextsThere(states []state) runbook.Finding {
	var decided, running, left, missing []string
	for _, seen := range states {
		what := fmt.Sprintf("%s#%d %q", seen.Branch.Repository(), seen.Pull.Number, seen.Context)
		there := seen.Reports.Named(seen.Context)
		pending := slices.ContainsFunc(there, func(one github.Context) bool { return one.State == github.Pending })
		job, runs := seen.Unfinished()
		switch {
		case len(there) > 0 && !pending:
			decided = append(decided, what+" "+there[0].Word)
		case len(there) > 0 && runs:
			running = append(running, fmt.Sprintf("%s (ProwJob %s is %s)", what, job.Name, job.State))
		case seen.freed:
			left = append(left, what+" (no longer required)")
		case seen.Do == blocked.Leave && seen.ProwJob.Name == "":
			left = append(left, what+" ("+seen.Reason+")")
		case len(there) > 0:
			missing = append(missing, what+" is pending, and no job runs")
		default:
			missing = append(missing, what+" is not reported: "+seen.Reason)
		}
	}
	if len(missing) > 0 {
		return runbook.No("%s", strings.Join(brief.Some(missing), "; "))
	}
	return runbook.Yes("decided: %s; at work: %s; left: %s", brief.List(decided), brief.List(running), brief.List(left))
}

func (u *unblocking) pullsFree() runbook.Guard {
	read := func(ctx context.Context, _ runbook.Run) ([]branches.Outlook, error) {
		var pulls []branches.Pull
		for _, action := range u.actions {
			asked := branches.Pull{Repository: action.planned.Repository, Number: action.planned.Number}
			if !slices.ContainsFunc(pulls, func(one branches.Pull) bool { return one.String() == asked.String() }) {
				pulls = append(pulls, asked)
			}
		}
		return u.branches.Outlooks(ctx, pulls)
	}
	return runbook.Ask("pulls-free", "can these pull requests be merged, or is it known what for they wait?", read,
		pullsFree)
}

func pullsFree(outlooks []branches.Outlook) runbook.Finding {
	var free, waiting, unexplained []string
	for _, outlook := range outlooks {
		switch {
		case outlook.Free:
			free = append(free, outlook.String()+" ("+outlook.Reason+")")
		case outlook.Reason != "":
			waiting = append(waiting, outlook.String()+" ("+outlook.Reason+")")
		default:
			unexplained = append(unexplained, outlook.String())
		}
	}
	if len(unexplained) > 0 {
		return runbook.No("still blocked, by what is not known: %s", strings.Join(unexplained, ", "))
	}
	return runbook.Yes("free: %s; waiting: %s", brief.List(free), brief.List(waiting))
}
