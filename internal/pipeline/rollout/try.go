package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/journal"
	"salve/runbook"
)

// logged makes an attempt whose output goes to its log.
func (w *walk) logged(ctx context.Context, attempt *Attempt) Outcome {
	log, err := w.runner.OpenLog(attempt.Run, attempt.Step.ID(), attempt.Number)
	if err != nil {
		return Outcome{Result: journal.Failure, Reason: "its log can't be written: " + err.Error()}
	}
	for _, text := range w.plan.secrets.texts {
		log.Hide(text)
	}
	for _, one := range attempt.Given {
		if one.Secret {
			log.Hide(one.Text())
		}
	}
	attempt.Log = log
	outcome := w.try(ctx, attempt)
	if err := log.Close(); err != nil {
		outcome.Reason = strings.TrimPrefix(outcome.Reason+"; its log is not complete: "+err.Error(), "; ")
	}
	return outcome
}

// try makes an attempt within the step's timeout.
func (w *walk) try(ctx context.Context, attempt *Attempt) Outcome {
	limited := ctx
	if timeout := attempt.Step.Timeout; timeout != nil {
		var cancel context.CancelFunc
		limited, cancel = clock.WithTimeout(ctx, w.runner.Clock, timeout.Duration)
		defer cancel()
	}
	outcome := w.runner.Actions[attempt.Step.Action.Value].Run(limited, attempt)
	if outcome.Result != journal.Done && errors.Is(context.Cause(limited), context.DeadlineExceeded) {
		outcome.Reason = fmt.Sprintf("not done within its timeout of %s: %s", attempt.Step.Timeout.Duration, outcome.Reason)
	}
	return outcome
}

// workNote is the name under which the run is in the record that does a step's work.
func workNote(step pipeline.StepID) string { return "runbook of " + step.String() }

func (w *walk) attempt(i, number int, given []Given) *Attempt {
	step, known := w.plan.Steps[i], slices.Clone(w.hidden)
	attempt := &Attempt{
		Run: w.record.Run, Step: step, Number: number, Given: given,
		Mask: func(text string, more ...string) string { return mask(text, slices.Concat(known, more)) },
		Report: func(text string) {
			w.tell(engine.Event{Kind: engine.StepMoved, Step: w.name(i), Progress: &runbook.Progress{Text: text}})
		},
		Begin: func(run string) error {
			wanted := note{step: i, name: workNote(step.ID()), value: run, answer: make(chan error, 1)}
			w.notes <- wanted
			return <-wanted.answer
		},
	}
	// Without it the work is looked for by its target, or done again.
	_, _ = w.record.Recall(workNote(step.ID()), &attempt.Earlier)
	if step.Soak != nil {
		attempt.Since = w.first(step.Soak.Since.ID())
	}
	return attempt
}
