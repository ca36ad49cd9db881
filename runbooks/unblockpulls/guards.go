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
	guard := runbook.AskUnderWay(name, question, u.begun, read, decide)
	guard.OnResume = true
	return guard
}

// begun tells whether a run has announced its first step.
func (u *unblocking) begun(run runbook.Run) bool {
	return slices.ContainsFunc(u.actions, func(a *action) bool {
		status := run.Step(a.name)
		return status.Done || status.Attempts > 0
	})
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
	guard := runbook.Ask("within-cap", "is it not more than was allowed?",
		func(context.Context, runbook.Run) (int, error) { return len(u.actions), nil },
		func(planned int) runbook.Finding { return withinCap(planned, u.in.Cap) })
	guard.NotOverridable = true
	return guard
}

func withinCap(planned, most int) runbook.Finding {
	if planned > most {
		return runbook.No("%d contexts would be asked for, and %d may be. hint: --repo OWNER/NAME for a part of them, or "+
			"--cap %d after a look at the plan", planned, most, planned).WithOutcome(runbook.NeedsAttention)
	}
	return runbook.Yes("%d of %d at most", planned, most)
}

// room is how much Prow has to do, and what is started next.
type room struct {
	// Unread is why the ProwJobs could not be read to their end; Jobs is how many there are, and Unfinished how many of
	// them are not complete.
	Unread     *runbook.Failure `json:"unread"`
	Jobs       int              `json:"jobs"`
	Unfinished int              `json:"unfinished"`
	Namespace  string           `json:"namespace"`
	// Planned jobs are to be started still; Next is the first of them, nil when nothing more is.
	Planned int      `json:"planned"`
	Next    *nextJob `json:"next"`
}

// nextJob is a job that is to be started, by the configuration, and how many of it are at work.
type nextJob struct {
	// Name is empty for what starts no job.
	Name string `json:"name"`
	// Queue is that of the job; Closed means that it has the capacity 0.
	Queue  string `json:"queue"`
	Closed bool   `json:"closed"`
	// Most of it run at once; zero is no limit.
	Most       int `json:"most"`
	Unfinished int `json:"unfinished"`
}

func (u *unblocking) headroom() runbook.Guard {
	return onCluster(u, "headroom", "has Prow room for the jobs that are started?", u.readRoom, u.in.hasRoom)
}

func (u *unblocking) readRoom(ctx context.Context, run runbook.Run) (room, error) {
	seen, err := u.prow.work(ctx)
	if err != nil {
		return room{}, err
	}
	found := room{
		Unread: runbook.FailureOf(seen.jobs.Unread()), Jobs: seen.jobs.Len(), Unfinished: seen.all,
		Namespace: u.prow.namespace,
	}
	for _, action := range u.actions {
		if run.Step(action.name).Done || action.planned.Do != blocked.Trigger {
			continue
		}
		if found.Planned++; found.Next == nil {
			found.Next = u.nextJob(seen, action)
		}
	}
	return found, nil
}

func (u *unblocking) nextJob(seen work, next *action) *nextJob {
	job := next.jobNamed()
	if job == nil || next.planned.Do != blocked.Trigger {
		return &nextJob{}
	}
	capacity, limited := u.config.Plank.Queues[job.Queue]
	return &nextJob{
		Name: job.Name, Queue: job.Queue, Closed: job.Queue != "" && limited && capacity == 0, Most: job.MaxConcurrency,
		Unfinished: seen.unfinished[job.Name],
	}
}

func (in Inputs) hasRoom(seen room) runbook.Finding {
	switch {
	case seen.Unread != nil:
		return runbook.Unknown(seen.Unread)
	case seen.Jobs == 0:
		return runbook.Unknownf("there is no ProwJob in namespace %s. Is that the cluster of this Prow?", seen.Namespace)
	case seen.Planned > 0 && seen.Unfinished+seen.Planned > in.MaxUnfinished:
		return runbook.No("%d ProwJobs are unfinished, and %d would be added. hint: later, --max-unfinished %d, or --repo "+
			"OWNER/NAME for a part of them", seen.Unfinished, seen.Planned, seen.Unfinished+seen.Planned).
			WithOutcome(runbook.Deferred)
	case seen.Next != nil:
		return seen.Next.hasRoom(seen.Unfinished)
	}
	return runbook.Yes("unfinished: %d", seen.Unfinished)
}

// hasRoom tells whether the job would begin at once, as far as its own limit and its queue's say.
func (j nextJob) hasRoom(unfinished int) runbook.Finding {
	switch {
	case j.Name == "":
		return runbook.Yes("no job is started")
	case j.Closed:
		return runbook.No("queue %s of job %s has the capacity 0: it never begins", j.Queue, j.Name).
			WithOutcome(runbook.NeedsAttention)
	case j.Most > 0 && j.Unfinished >= j.Most:
		return runbook.No("of job %s, %d are unfinished, and no more run at once (max_concurrency)", j.Name, j.Unfinished).
			WithOutcome(runbook.Deferred)
	}
	return runbook.Yes("unfinished: %d, and %d of job %s", unfinished, j.Unfinished, j.Name)
}

// summary is what an operator has to hear. It stops nothing.
func (u *unblocking) summary() runbook.Guard {
	return runbook.Ask("summary", "what was found?",
		func(context.Context, runbook.Run) (string, error) { return u.in.found(), nil },
		func(found string) runbook.Finding { return runbook.Yes("%s", found) })
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
