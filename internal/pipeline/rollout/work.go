package rollout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/journal"
	"salve/runbook"
)

// work is what the steps of one rollout share in this process. What has to last is
// in the journal.
type work struct {
	runner  *Runner
	plan    *Plan
	history *history
	// made is what Prepare says of what it made; unmade why it failed.
	made   string
	unmade error

	mu      sync.Mutex
	outputs outputs
	// hidden are the secrets that are known; no reason may hold one.
	hidden []string
	// finished is when a step ended in this process.
	finished map[pipeline.StepID]time.Time
	recalled map[pipeline.StepID]bool
}

func newWork(r *Runner, plan *Plan) *work {
	return &work{
		runner: r, plan: plan, history: &history{}, outputs: newOutputs(), hidden: slices.Clone(plan.secrets.texts),
		finished: map[pipeline.StepID]time.Time{}, recalled: map[pipeline.StepID]bool{},
	}
}

// failure is an attempt that ended badly, with the end of what it said.
type failure struct{ reason, said string }

func (e *failure) Error() string { return e.reason }

// failed is an attempt of which nothing was begun.
func failed(reason string) error {
	return &apierr.Error{Class: apierr.Terminal, Err: &failure{reason: reason}}
}

// unread begins the reason of an attempt whose outputs can't be read.
const unread = "it ended with exit code 0, but its outputs can't be read: "

// ended is an attempt that was made, and did not end well. What is unknown is observed,
// and an operator asked, unless the step can be run again.
func (w *work) ended(i int, outcome Outcome) error {
	err := &apierr.Error{Class: apierr.Terminal, Err: &failure{outcome.Reason, outcome.Said}}
	switch {
	case outcome.Refused:
		return err
	case outcome.Result == journal.Unknown && (w.observing(i) != nil || !w.repeatable(i)):
		err.Class = apierr.Unclassified
	}
	return &runbook.EndedError{Err: err}
}

// says tells whether a failed attempt said one of the texts that its step's
// automatedRetry names.
func says(err error, texts []pipeline.Text) bool {
	var failure *failure
	if !errors.As(err, &failure) {
		return false
	}
	said := failure.reason + "\n" + failure.said
	return slices.ContainsFunc(texts, func(text pipeline.Text) bool { return strings.Contains(said, text.Value) })
}

// recall takes what a step that is done has handed on from the journal.
func (w *work) recall(run runbook.Run, i int) error {
	id := w.plan.Steps[i].ID()
	w.mu.Lock()
	known := w.recalled[id]
	w.recalled[id] = true
	w.mu.Unlock()
	if known {
		return nil
	}
	var kept kept
	if _, err := run.Recall(noteOf(id), &kept); err != nil {
		return err
	}
	read, err := kept.read()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outputs[id] = read
	return nil
}

// variables are the variables of a step with all values filled in, secrets marked.
func (w *work) variables(step *pipeline.Step) ([]Variable, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.outputs.variables(step)
	return w.plan.secrets.conceal(step, all), err
}

// known are the inputs of a step as far as they are known, secrets masked. What others will hand on is empty.
func (w *work) known(step *pipeline.Step) map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := unknown(step)
	for _, variable := range variables(step) {
		if one, err := w.outputs.one(step, variable); err == nil {
			maps.Copy(shown, masked(w.plan.secrets.conceal(step, []Variable{one})))
		}
	}
	return shown
}

// unknown are the inputs of a step of which nothing may be said yet.
func unknown(step *pipeline.Step) map[string]any {
	shown := map[string]any{}
	for _, variable := range variables(step) {
		shown[variable.Name.Value] = nil
	}
	return shown
}

// apply makes one attempt at a step. Its permit is asked right before its action
// begins.
func (w *work) apply(ctx context.Context, run runbook.Run, i int) error {
	step := w.plan.Steps[i]
	variables, err := w.variables(step)
	if err != nil {
		return failed(err.Error())
	}
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	attempt, err := w.attempt(ctx, run, i, variables)
	if err != nil {
		return err
	}
	return w.take(ctx, run, i, w.logged(ctx, attempt, w.try))
}

// take keeps what an attempt handed on, and gives its failure as an error.
func (w *work) take(ctx context.Context, run runbook.Run, i int, outcome Outcome) error {
	w.mu.Lock()
	for _, output := range outcome.Outputs {
		if output.Secret {
			w.hidden = append(w.hidden, Variable{Value: output.Value}.Text())
		}
	}
	hidden := slices.Clone(w.hidden)
	w.mu.Unlock()
	if outcome.Unread != nil {
		outcome.Reason = strings.TrimSuffix(unread+outcome.Unread.Error()+"; "+outcome.Reason, "; ")
	}
	reason := diagnostic.Printable(mask(outcome.Reason, hidden))
	switch {
	case outcome.Result == journal.Done:
		if reason != "" {
			run.Summarize("%s", reason)
		}
		return w.handOn(ctx, run, i, tainted(outcome.Outputs, hidden))
	}
	outcome.Reason = reason
	return w.ended(i, outcome)
}

// handOn keeps the outputs of a step that is done: in the journal, before it is
// said to be done, and secrets in memory only.
func (w *work) handOn(ctx context.Context, run runbook.Run, i int, made map[string]Output) error {
	step := w.plan.Steps[i]
	if len(made) > 0 {
		kept, err := keep(made)
		if err != nil {
			return w.ended(i, Outcome{Result: journal.Unknown, Unread: err, Reason: unread + err.Error()})
		}
		if err := run.Note(ctx, noteOf(step.ID()), kept); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outputs[step.ID()], w.recalled[step.ID()] = made, true
	w.finished[step.ID()] = w.runner.Clock.Now()
	return nil
}

// logged makes an attempt, or observes one, whose output goes to its log.
func (w *work) logged(ctx context.Context, attempt *Attempt,
	do func(context.Context, *Attempt) Outcome) Outcome {
	log, err := w.runner.OpenLog(attempt.Run, attempt.Step.ID(), attempt.Number)
	if err != nil {
		return Outcome{Result: journal.Failure, Refused: true, Reason: "its log can't be written: " + err.Error()}
	}
	for _, text := range w.plan.secrets.texts {
		log.Hide(text)
	}
	for _, one := range attempt.Variables {
		if one.Secret {
			log.Hide(one.Text())
		}
	}
	attempt.Log = log
	outcome := do(ctx, attempt)
	if err := log.Close(); err != nil {
		outcome.Reason = strings.TrimPrefix(outcome.Reason+"; its log is not complete: "+err.Error(), "; ")
	}
	return outcome
}

// try makes an attempt within the step's timeout.
func (w *work) try(ctx context.Context, attempt *Attempt) Outcome {
	limited, action := ctx, w.runner.Actions[attempt.Step.Action.Value]
	if timeout := attempt.Step.Timeout; timeout != nil && !action.Capabilities().OwnTimeout {
		var cancel context.CancelFunc
		limited, cancel = clock.WithTimeout(ctx, w.runner.Clock, timeout.Duration)
		defer cancel()
	}
	outcome := action.Run(limited, attempt)
	if outcome.Result != journal.Done && errors.Is(context.Cause(limited), context.DeadlineExceeded) &&
		attempt.Step.Timeout != nil {
		outcome.Reason = fmt.Sprintf("not done within its timeout of %s: %s", attempt.Step.Timeout.Duration, outcome.Reason)
	}
	return outcome
}

// workNote is the name under which the run is in the record that does a step's work.
func workNote(step pipeline.StepID) string { return "runbook of " + step.String() }

func (w *work) attempt(ctx context.Context, run runbook.Run, i int, variables []Variable) (*Attempt, error) {
	step := w.plan.Steps[i]
	w.mu.Lock()
	for _, one := range variables {
		if one.Secret {
			w.hidden = append(w.hidden, one.Text())
		}
	}
	known := slices.Clone(w.hidden)
	w.mu.Unlock()
	attempt := &Attempt{
		Run: run.ID(), Step: step, Number: run.Step(w.name(i)).Attempts, Variables: variables, Wanted: w.plan.wanted(step),
		Mask:   func(text string, more ...string) string { return mask(text, slices.Concat(known, more)) },
		Report: func(text string) { run.Report(runbook.Progress{Text: text}) },
		Wait:   func(text string) { run.Report(runbook.Progress{Text: text, Waiting: true}) },
		Begin:  func(name string) error { return run.Note(ctx, workNote(step.ID()), name) },
	}
	if _, err := run.Recall(workNote(step.ID()), &attempt.Earlier); err != nil {
		return nil, err
	}
	if step.Soak != nil {
		attempt.Since = w.first(run.ID(), step.Soak.Since.ID())
	}
	return attempt, nil
}

// first is when a step was first done for this rollout's revision, in this run or in
// one before. A Soak begins after the step was done.
func (w *work) first(run string, step pipeline.StepID) time.Time {
	at, found := w.history.first(run, step, w.plan.Inputs.Revision)
	w.mu.Lock()
	defer w.mu.Unlock()
	if ours, done := w.finished[step]; done && (!found || ours.Before(at)) {
		return ours
	}
	return at
}
