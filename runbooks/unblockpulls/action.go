package unblockpulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/runbook"
)

const (
	// stepBudget holds a wait for GitHub's next hour.
	stepBudget = 2 * time.Hour
	// heeded is how long Prow may take to do something about what it was asked for.
	heeded    = 5 * time.Minute
	lookEvery = 10 * time.Second
	// shown is how long GitHub may take to list a comment.
	shown = 30 * time.Second
)

// action is the step for one context on one head.
type action struct {
	*unblocking
	at      int
	name    string
	planned Planned
	repo    github.Repo
	branch  config.Branch
	seen    runbook.Shared[state]
	// asked is when this process asked for it; zero when it did not.
	asked time.Time
}

// state is how a context stands that is to be asked for.
type state struct {
	blocked.Question
	blocked.Decision
	// freed: GitHub no longer requires the context.
	freed bool
	// made is the comment that was made for it; nil when there is none.
	made *github.Comment
}

func (a *action) step() runbook.Step {
	step := runbook.Step{
		Name: a.name, Guards: beforeEach(), Preconditions: []runbook.Guard{a.stillToDo()}, Budget: stepBudget,
		Inputs:  func(runbook.Run) (any, error) { return a.inputs(), nil },
		Observe: a.observeTwice, Await: a.await,
	}
	if a.planned.Do == blocked.Report {
		step.Changes = fmt.Sprintf("have crier report ProwJob %s again, by taking off its mark that GitHub was told",
			a.planned.Job)
		step.Apply = runbook.Act(a.read, a.askCrier)
		return step
	}
	step.Changes = fmt.Sprintf("start job %s once, by the comment %q", a.planned.Job, a.jobNamed().RerunCommand)
	step.Apply = runbook.Act(a.read, a.comment)
	return step
}

// jobNamed is the presubmit of the plan, by the configuration; nil when that knows none.
func (a *action) jobNamed() *config.Job {
	job := a.pulls.Producer(a.branch, a.planned.Context)
	if job == nil || job.Name != a.planned.Job {
		return nil
	}
	return job
}

func (a *action) inputs() map[string]string {
	return map[string]string{
		"pull": a.planned.pull(), "head": a.planned.Head, "branch": a.branch.String(), "context": a.planned.Context,
		"do": string(a.planned.Do), "job": a.planned.Job,
	}
}

// read gives the state, read once in a round.
func (a *action) read(ctx context.Context, run runbook.Run) (state, error) {
	return a.seen.Get(ctx, run, func(ctx context.Context) (state, error) { return a.look(ctx, run) })
}

// look reads all that the decision rests on afresh. What can't be read is an error, and never a decision.
func (a *action) look(ctx context.Context, run runbook.Run) (state, error) {
	required, err := a.branches.Required(ctx, a.branch)
	if err != nil {
		return state{}, err
	}
	seen := state{Question: a.pulls.Question(a.branch, a.planned.Head, a.planned.Context)}
	seen.freed, seen.Pushed = !slices.Contains(required, a.planned.Context), a.planned.There
	if seen.Pull, err = a.github.PullRequest(ctx, a.repo, a.planned.Number); err != nil {
		return state{}, err
	}
	if seen.Reports, err = a.github.Reports(ctx, a.repo, a.planned.Head); err != nil {
		return state{}, err
	}
	if seen.ReportedBy, err = a.reporter(ctx, a.branch, a.planned.Context); err != nil {
		return state{}, err
	}
	if a.planned.Do == blocked.Trigger {
		if err := a.lookCloser(ctx, run, &seen); err != nil {
			return state{}, err
		}
	}
	work, err := a.prow.work(ctx)
	if err != nil {
		return state{}, err
	}
	seen.Jobs = work.jobs
	seen.Decision = blocked.Decide(seen.Question)
	return seen, nil
}

// lookCloser reads what only a job that is to be started needs.
func (a *action) lookCloser(ctx context.Context, run runbook.Run, seen *state) error {
	accounts, err := a.accounts(ctx, run)
	if err != nil {
		return err
	}
	comments, err := a.github.Comments(ctx, a.repo, a.planned.Number)
	if err != nil {
		return err
	}
	seen.made = markedBy(comments, accounts, a.planned.Head, a.planned.Context)
	if job := a.jobNamed(); job == nil || !job.Conditional() {
		return nil
	}
	files, err := a.github.ChangedFiles(ctx, a.repo, a.planned.Number)
	if err == nil {
		seen.Files = &files
	}
	return err
}

// toDo is what a context needs, as far as the condition of its change goes.
type toDo struct {
	Do     blocked.Do `json:"do"`
	Reason string     `json:"reason"`
	// Settled: GitHub no longer requires it, or it was asked for already.
	Settled bool `json:"settled"`
}

// stillToDo is a condition of each change: what was planned is what has to be done still, unless nothing has.
func (a *action) stillToDo() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (toDo, error) {
		seen, err := a.read(ctx, run)
		return toDo{seen.Do, seen.Reason, seen.freed || seen.made != nil}, err
	}
	return runbook.Ask("still-to-do", "has that to be asked for still?", read, func(seen toDo) runbook.Finding {
		switch {
		case seen.Do == blocked.Unknown:
			return runbook.Unknownf("%s", seen.Reason)
		case seen.Do == blocked.Mend && !seen.Settled:
			return runbook.No("the protection of %s is wrong: %s. hint: salve run repair-branch-protection", a.branch,
				seen.Reason).WithOutcome(runbook.NeedsAttention)
		}
		return runbook.Yes("%s", seen.Reason)
	})
}

// observeTwice looks again for what was announced and is not to be seen: its answer was lost, and GitHub may list a
// comment late. Whoever believes at once that it is not there makes a second one.
func (a *action) observeTwice(ctx context.Context, run runbook.Run) runbook.Observation {
	look := runbook.Observe(a.read, func(seen state) runbook.Observation { return a.observe(run, seen) })
	seen := look(ctx, run)
	if seen.State != runbook.StateNotStarted || !run.Step(a.name).Unsettled {
		return seen
	}
	if err := clock.Sleep(ctx, a.prow.cluster.Clock, shown); err != nil {
		return runbook.NotObserved(err)
	}
	a.seen.Reset()
	return look(ctx, run)
}

// observe says how far it is, by the world alone, but for what only a process that waited can know.
func (a *action) observe(run runbook.Run, seen state) runbook.Observation {
	if asked := a.askedBefore(seen); asked != "" {
		if effect := a.effect(seen); effect != "" {
			return runbook.Done("%s: %s", asked, effect)
		}
		var vain string
		if found, err := run.Recall(a.vain(), &vain); err != nil {
			return runbook.NotObserved(err)
		} else if found {
			return runbook.Undecidable(vain, "%s, and nothing came of it within %s", asked, heeded)
		}
		return runbook.InFlight("%s", asked)
	}
	switch {
	case seen.freed:
		return runbook.Done("%s", settled(seen))
	case seen.Do == a.planned.Do && (seen.Do != blocked.Report || seen.ProwJob.Name == a.planned.Job):
		return runbook.NotStarted("%s", seen.Reason)
	case seen.Do == blocked.Unknown:
		return runbook.NotObserved(errors.New(seen.Reason))
	case seen.Do == blocked.Mend:
		return runbook.NotStarted("%s", seen.Reason) // its precondition refuses it
	}
	return runbook.Done("%s", settled(seen))
}

// settled says why nothing is to be asked for.
func settled(seen state) string {
	switch {
	case seen.freed:
		return "left: it is no longer required"
	case seen.Do == blocked.Nothing:
		return seen.Reason
	}
	return "left: " + seen.Reason
}

// askedBefore says who asked for it, in this run or in an earlier one; empty when nobody did.
func (a *action) askedBefore(seen state) string {
	switch {
	case a.planned.Do == blocked.Report && seen.ProwJob.Name == a.planned.Job && seen.ProwJob.AskedAgain != "":
		return "run " + seen.ProwJob.AskedAgain + " had it reported again"
	case seen.made != nil:
		return fmt.Sprintf("%s asked for it by comment %d", seen.made.Author, seen.made.ID)
	}
	return ""
}

// effect says what came of it; empty when nothing has.
func (a *action) effect(seen state) string {
	switch there := seen.Reports.Named(a.planned.Context); {
	case seen.Do == blocked.Leave && seen.ProwJob.Name == "":
		return seen.Reason // whatever comes of it, nobody waits for it any longer
	case a.planned.Do == blocked.Report:
		if seen.Do == blocked.Nothing {
			return seen.Reason
		}
		return ""
	case len(there) > 0:
		return fmt.Sprintf("%s is %s", a.planned.Context, there[0].Word)
	}
	return ""
}

// vain is the name of the note that nothing came of it.
func (a *action) vain() string { return "vain " + a.name }

// awaitEffect looks on until Prow has done something about it, for a while.
func (a *action) awaitEffect(ctx context.Context, run runbook.Run) (seen state, effect string, err error) {
	clk := a.prow.cluster.Clock
	for began := clk.Now(); clk.Since(began) < heeded; {
		if seen, err = a.look(ctx, run); err != nil {
			return seen, "", err
		}
		if effect = a.effect(seen); a.asked.IsZero() && a.askedBefore(seen) == "" {
			effect = settled(seen) // when it was about to be asked for
		}
		if effect != "" {
			return seen, effect, nil
		}
		if err := clock.Sleep(ctx, clk, lookEvery); err != nil {
			return seen, "", err
		}
	}
	return seen, "", nil
}

// await waits until Prow has done something about it, and then until the next may be asked for.
func (a *action) await(ctx context.Context, run runbook.Run) error {
	seen, effect, err := a.awaitEffect(ctx, run)
	switch {
	case err != nil:
		return err
	case effect != "":
		run.Summarize("%s", effect)
		return a.pace(ctx, run)
	}
	question := "Is hook running, and does it heed this account? Then resume the run"
	switch {
	case a.planned.Do == blocked.Report:
		question = "Is crier running, and does GitHub take its statuses? Then resume the run"
	case seen.ProwJob.Name != "":
		question = fmt.Sprintf("ProwJob %s was made, and GitHub has no status of it. Is crier running? Then resume the run",
			seen.ProwJob.Name)
	}
	question += fmt.Sprintf(", or answer done to go on without. It is not asked for again on head %s", a.planned.Head[:7])
	if err := run.Note(ctx, a.vain(), question); err != nil {
		return err
	}
	// Nobody knows whether something will: the step is observed next, and asks.
	return apierr.New(apierr.Transient, "asked for, and nothing came of it within %s", heeded)
}
