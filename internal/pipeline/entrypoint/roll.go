package entrypoint

import (
	"context"
	"fmt"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// apply rolls a service group out, or goes on with it, by the run that the record names. Where it names none yet, that
// is written down first.
func (w *work) apply(ctx context.Context, run runbook.Run, group Group) error {
	known, err := w.child(ctx, run, group)
	if err != nil {
		return apierr.New(apierr.Terminal, "service group %s: %w", group.Name, err)
	}
	runner := w.runner.Pipeline(group)
	if known.run == "" || known.blank || known.over() {
		if known, err = w.name(ctx, run, runner, group); err != nil {
			return err
		}
	}
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	return w.roll(ctx, run, runner, group, known)
}

// name writes down which run rolls a service group out: the one that is open, which somebody may have begun before, or
// a new one.
func (w *work) name(ctx context.Context, run runbook.Run, runner *rollout.Runner, group Group) (child, error) {
	open, err := runner.Open(ctx, group.Plan)
	if err != nil {
		return child{}, apierr.New(apierr.Terminal, "service group %s: %w", group.Name, err)
	}
	named := child{run: open}
	if open == "" {
		named.run = w.runner.newRun()
	}
	if err := run.Note(ctx, noteOf(group.Name), named.run); err != nil {
		return named, err
	}
	if open == "" {
		return named, nil
	}
	return w.child(ctx, run, group)
}

// roll runs a pipeline under the name that was written down.
func (w *work) roll(ctx context.Context, run runbook.Run, runner *rollout.Runner, group Group, known child) error {
	plan := *group.Plan
	plan.Inputs.PartOf = run.ID()
	following, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	tally := newTally(run, known.record)
	watch := runner.Watch
	runner.Places = w.places
	runner.NewRun = func(time.Time) string { return known.run }
	runner.Watch = func(event engine.Event) {
		if watch != nil {
			watch(event)
		}
		// Somebody else may have begun a run in between: that one is resumed, and has to be found again.
		if event.Kind == engine.RunBegan && event.Run != known.run {
			if err := run.Note(ctx, noteOf(group.Name), event.Run); err != nil {
				stop(err)
			}
		}
		tally.take(event)
	}
	options, err := w.allowed(ctx, run)
	if err != nil {
		return apierr.New(apierr.Terminal, "service group %s: %w", group.Name, err)
	}
	result, err := w.retry(following, func() (engine.Result, error) {
		if known.record != nil {
			return runner.Resume(following, &plan, known.run, options)
		}
		return runner.Run(following, &plan, options)
	})
	return ended(run, group, result, err)
}

// allowed are the options of a pipeline's run. Where the whole had to be approved that covers the run.
func (w *work) allowed(ctx context.Context, run runbook.Run) (rollout.Options, error) {
	options := rollout.Options{AllowOlder: w.options.AllowOlder, Approval: w.options.Approval}
	if w.runner.Approvals == nil {
		return options, nil
	}
	whole, err := journal.Load(ctx, w.runner.Journal, run.ID())
	if err != nil {
		return options, fmt.Errorf("reading who has to approve: %w", err)
	}
	if whole.Header.Approval != nil {
		options.Approval = whole.Header.Approval
	}
	if options.Approval != nil {
		options.ApprovedIn = run.ID()
	}
	return options, nil
}

func (w *work) retry(ctx context.Context, call func() (engine.Result, error)) (engine.Result, error) {
	if w.runner.Retry == nil {
		return call()
	}
	return w.runner.Retry(ctx, call)
}

// ended says what the end of a pipeline's run means to its service group.
func ended(run runbook.Run, group Group, result engine.Result, err error) error {
	if err != nil {
		return apierr.New(apierr.Terminal, "service group %s can't begin: %w", group.Name, err)
	}
	reason := fmt.Sprintf("run %s: %s", result.Run, result.Reason)
	switch {
	case result.Outcome == runbook.RolledOut:
		run.Summarize("%s", reason)
		return nil
	case result.Open && result.Question != "":
		return &runbook.QuestionError{Reason: reason,
			Question: fmt.Sprintf("%s Then resume the whole: salve resume %s.", result.Question, run.ID())}
	}
	return &runbook.EndedError{Err: apierr.New(apierr.Terminal, "%s", reason)}
}
