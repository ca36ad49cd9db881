package unblockpulls

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/blocked"
	"salve/internal/prow/brief"
	"salve/internal/prow/config"
	"salve/runbook"
)

// onCluster makes a guard that decides by what Prow's cluster says. It is asked again before each change, and whenever
// the run is resumed.
func onCluster[T any](
	u *unblocking, name, question string, read func(context.Context, runbook.Run) (T, error),
	decide func(T) runbook.Finding,
) runbook.Guard {
	guard := runbook.Ask(name, question, read, decide)
	guard.OnResume = true
	return u.onceBegun(guard)
}

// onceBegun: what would put a run off has interrupted one that has begun, and whoever started it must not take that for
// the end of it.
func (u *unblocking) onceBegun(guard runbook.Guard) runbook.Guard {
	evaluate := guard.Evaluate
	guard.Evaluate = func(ctx context.Context, run runbook.Run) runbook.Finding {
		finding := evaluate(ctx, run)
		if finding.Outcome == runbook.Deferred && slices.ContainsFunc(u.actions, func(a *action) bool {
			status := run.Step(a.name)
			return status.Done || status.Attempts > 0
		}) {
			return finding.WithOutcome(runbook.Failed)
		}
		return finding
	}
	return guard
}

func (u *unblocking) notTheBot() runbook.Guard {
	guard := runbook.Ask("not-the-bot", "does the token speak for another account than Prow's own?",
		func(ctx context.Context, _ runbook.Run) (string, error) { return u.account(ctx) },
		func(login string) runbook.Finding { return notTheBot(login, u.in.Bot) })
	guard.NotOverridable, guard.OnResume = true, true
	return guard
}

// notTheBot: the trigger plugin ignores comments of Prow's own account, with the suffix of an app or without it
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/plugins/trigger/generic-comment.go, BotUserChecker).
func notTheBot(login, bot string) runbook.Finding {
	plain := func(name string) string { return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(name), "[bot]")) }
	if plain(login) == plain(bot) {
		return runbook.No("the token is that of %s itself, and Prow ignores its comments. hint: a token of another account",
			login).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("it speaks for %s, and Prow's own is %s", login, bot)
}

func (u *unblocking) withinCap() runbook.Guard {
	return runbook.Guard{Name: "within-cap", Question: "is it not more than was allowed?", NotOverridable: true,
		Evaluate: func(context.Context, runbook.Run) runbook.Finding { return withinCap(len(u.actions), u.in.Cap) }}
}

func withinCap(planned, most int) runbook.Finding {
	if planned > most {
		return runbook.No("%d contexts would be asked for, and %d may be. hint: --repo OWNER/NAME for a part of them, or "+
			"--cap %d after a look at the plan", planned, most, planned).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("%d of %d at most", planned, most)
}

// room is how much Prow has to do, and what is started next; nil when nothing more is.
type room struct {
	work
	next    *action
	planned int
}

func (u *unblocking) headroom() runbook.Guard {
	return onCluster(u, "headroom", "has Prow room for the jobs that are started?",
		func(ctx context.Context, run runbook.Run) (room, error) {
			seen, err := u.prow.work(ctx)
			found := room{work: seen}
			for _, action := range u.actions {
				if run.Step(action.name).Done || action.planned.Do != blocked.Trigger {
					continue
				}
				if found.planned++; found.next == nil {
					found.next = action
				}
			}
			return found, err
		}, u.hasRoom)
}

func (u *unblocking) hasRoom(seen room) runbook.Finding {
	switch {
	case seen.jobs.Unread() != nil:
		return runbook.Unknown(seen.jobs.Unread())
	case seen.jobs.Len() == 0:
		return runbook.Unknownf("there is no ProwJob in namespace %s. Is that the cluster of this Prow?", u.prow.namespace)
	case seen.planned > 0 && seen.all+seen.planned > u.in.MaxUnfinished:
		return runbook.No("%d ProwJobs are unfinished, and %d would be added. hint: later, --max-unfinished %d, or --repo "+
			"OWNER/NAME for a part of them", seen.all, seen.planned, seen.all+seen.planned).WithOutcome(runbook.Deferred)
	case seen.next != nil:
		return u.roomFor(seen.work, seen.next)
	}
	return runbook.Yes("unfinished: %d", seen.all)
}

// roomFor tells whether an action's job would begin at once, as far as its own limit and its queue's say.
func (u *unblocking) roomFor(seen work, next *action) runbook.Finding {
	job := next.jobNamed()
	if job == nil || next.planned.Do != blocked.Trigger {
		return runbook.Yes("no job is started")
	}
	capacity, limited := u.config.Plank.Queues[job.Queue]
	if job.Queue != "" && limited && capacity == 0 {
		return runbook.No("queue %s of job %s has the capacity 0: it never begins", job.Queue, job.Name).
			WithOutcome(runbook.NeedsAttention)
	}
	if at := seen.unfinished[job.Name]; job.MaxConcurrency > 0 && at >= job.MaxConcurrency {
		return runbook.No("of job %s, %d are unfinished, and no more run at once (max_concurrency)", job.Name, at).
			WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("unfinished: %d, and %d of job %s", seen.all, seen.unfinished[job.Name], job.Name)
}

// summary is what an operator has to hear. It stops nothing.
func (u *unblocking) summary() runbook.Guard {
	return runbook.Guard{Name: "summary", Question: "what was found?",
		Evaluate: func(context.Context, runbook.Run) runbook.Finding { return runbook.Yes("%s", u.in.found()) }}
}

// plannedBranches are those on which jobs are started, each once.
func (u *unblocking) plannedBranches() []config.Branch {
	var all []config.Branch
	for _, action := range u.actions {
		if action.planned.Do == blocked.Trigger && !slices.Contains(all, action.branch) {
			all = append(all, action.branch)
		}
	}
	return all
}

func (u *unblocking) protectionRight() runbook.Guard {
	return runbook.Ask("protection-right", "does somebody report each context that these branches require?",
		func(ctx context.Context, _ runbook.Run) ([]string, error) { return u.ghosts(ctx) }, protectionRight)
}

// ghosts are required contexts that nobody is known to report.
func (u *unblocking) ghosts(ctx context.Context) ([]string, error) {
	var ghosts []string
	for _, branch := range u.plannedBranches() {
		required, err := u.branches.Required(ctx, branch)
		if err != nil {
			return nil, err
		}
		for _, name := range required {
			by, err := u.reporter(ctx, branch, name)
			if err != nil {
				return nil, err
			}
			if job := u.pulls.Producer(branch, name); by == "" && (job == nil || job.SkipReport) {
				ghosts = append(ghosts, fmt.Sprintf("%q on %s", name, branch))
			}
		}
	}
	return ghosts, nil
}

// protectionRight: whatever is started, a pull request that waits for a context which nothing reports stays blocked.
func protectionRight(ghosts []string) runbook.Finding {
	if len(ghosts) > 0 {
		return runbook.No("required, and nothing reports it: %s. hint: salve run repair-branch-protection, or "+
			"--external-context NAME", strings.Join(brief.Some(ghosts), "; ")).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("somebody reports each of them")
}
