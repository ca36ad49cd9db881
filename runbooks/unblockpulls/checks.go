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

// contexts say how each one stands that was asked for.
type contexts struct {
	Decided []string `json:"decided"`
	Running []string `json:"running"`
	// Left are those that nobody waits for any longer, or that somebody else's doing keeps away.
	Left    []string `json:"left"`
	Missing []string `json:"missing"`
}

func (u *unblocking) contextsThere() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (contexts, error) {
		var all contexts
		for _, action := range u.actions {
			seen, err := action.look(ctx, run)
			if err != nil {
				return contexts{}, err
			}
			all.add(seen)
		}
		return all, nil
	}
	return runbook.Ask("contexts-there", "is each context on the same head, decided or with a job that runs?", read,
		contextsThere)
}

// add takes a context into account. That a head moved, or is waited for no more, is no failure of what was asked for.
func (c *contexts) add(seen state) {
	what := fmt.Sprintf("%s#%d %q", seen.Branch.Repository(), seen.Pull.Number, seen.Context)
	there := seen.Reports.Named(seen.Context)
	pending := slices.ContainsFunc(there, func(one github.Context) bool { return one.State == github.Pending })
	job, runs := seen.Unfinished()
	switch {
	case len(there) > 0 && !pending:
		c.Decided = append(c.Decided, what+" "+there[0].Word)
	case len(there) > 0 && runs:
		c.Running = append(c.Running, fmt.Sprintf("%s (ProwJob %s is %s)", what, job.Name, job.State))
	case seen.freed:
		c.Left = append(c.Left, what+" (no longer required)")
	case seen.Do == blocked.Leave && seen.ProwJob.Name == "":
		c.Left = append(c.Left, what+" ("+seen.Reason+")")
	case len(there) > 0:
		c.Missing = append(c.Missing, what+" is pending, and no job runs")
	default:
		c.Missing = append(c.Missing, what+" is not reported: "+seen.Reason)
	}
}

func contextsThere(seen contexts) runbook.Finding {
	if len(seen.Missing) > 0 {
		return runbook.No("%s", strings.Join(brief.Some(seen.Missing), "; "))
	}
	return runbook.Yes("decided: %s; at work: %s; left: %s", brief.List(seen.Decided), brief.List(seen.Running),
		brief.List(seen.Left))
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
