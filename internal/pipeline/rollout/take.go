package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/engine"
	"salve/internal/pipeline"
	"salve/internal/pipeline/diagnostic"
	"salve/journal"
)

// take drafts the outcome of an attempt, and decides what follows from it.
func (w *walk) take(ended ending) {
	w.drop(ended.step)
	w.settled(ended.step, ended.outcome)
}

// settled drafts the outcome of a step.
func (w *walk) settled(i int, outcome Outcome) {
	step := w.plan.Steps[i]
	for _, output := range outcome.Outputs {
		if output.Secret {
			w.hidden = append(w.hidden, Given{Value: output.Value}.Text())
		}
	}
	outcome.Reason, outcome.Outputs = diagnostic.Printable(mask(outcome.Reason, w.hidden)), tainted(outcome.Outputs, w.hidden)
	if outcome.Result == journal.Unknown && w.repeatable(i) {
		outcome.Result = journal.Failure
	}
	if outcome.Result == journal.Done && len(outcome.Outputs) > 0 {
		made, err := keep(outcome.Outputs)
		raw, encodeErr := encode(made)
		if err = errors.Join(err, encodeErr); err != nil {
			outcome = Outcome{Result: journal.Failure, Reason: "what it handed on can't be kept: " + err.Error()}
		} else {
			w.drafts = append(w.drafts, journal.Pending{Kind: journal.Noted, Step: w.name(i), Data: journal.Note{Name: noteOf(step.ID()), Value: raw}})
		}
	}
	w.drafts = append(w.drafts, journal.Pending{Kind: journal.Outcome, Step: w.name(i), Data: journal.Result{
		Attempt: w.attempts(i), Result: outcome.Result, Reason: outcome.Reason,
	}})
	switch {
	case outcome.Result == journal.Done, outcome.Result == journal.Skipped:
		w.outputs[step.ID()] = outcome.Outputs
		w.queue.done(i)
	case outcome.Result == journal.Failure && w.retry(i, outcome):
	default:
		w.failures = append(w.failures, i)
		if !w.plan.Inputs.KeepGoing {
			w.stop(nil)
		}
	}
}

// attempts counts the attempts at a step, one that is only drafted included.
func (w *walk) attempts(i int) int { return w.record.Step(w.name(i)).Attempts }

// retry tells whether a failure is one that the step's automatedRetry is for, and
// sees to the next attempt.
func (w *walk) retry(i int, outcome Outcome) bool {
	rule := w.plan.Steps[i].Retry
	if rule == nil || w.stopping || w.tries[i] > rule.Count {
		return false
	}
	said := outcome.Reason + "\n" + outcome.Said
	at := slices.IndexFunc(rule.ErrorContainsAny, func(text pipeline.Text) bool { return strings.Contains(said, text.Value) })
	if at < 0 {
		return false
	}
	w.tell(engine.Event{Kind: engine.Waiting, Step: w.name(i), Text: fmt.Sprintf("it said %q, which is tried again %s; attempt %d of %d in %s",
		rule.ErrorContainsAny[at].Value, times(rule.Count), w.tries[i]+1, rule.Count+1, rule.Between.Duration)})
	w.paused[i] = w.runner.Clock.AfterFunc(rule.Between.Duration, func() {
		select {
		case w.again <- i:
		case <-w.over:
		}
	})
	return true
}

func times(count int) string {
	if count == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", count)
}

// first is when a step was first done for this run's revision, in this run or in
// one before. A Soak begins after the step was done.
func (w *walk) first(step pipeline.StepID) time.Time {
	at, found := w.past.first(step, w.plan.Inputs.Revision)
	if ours, done := doneAt(w.record.History, step); done && (!found || ours.Before(at)) {
		return ours
	}
	return at
}

func (n note) data() any {
	raw, err := encode(n.value)
	if err != nil {
		raw = json.RawMessage(`"not encodable"`)
	}
	return journal.Note{Name: n.name, Value: raw}
}

func encode(value any) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding as JSON: %w", err)
	}
	return raw, nil
}

func (w *walk) name(i int) string { return w.plan.Steps[i].ID().String() }

// append writes to the journal also when the run is being stopped: what happened
// must be written down. After a write that failed, nothing is written any more: it
// isn't known what of it is there.
func (w *walk) append(ctx context.Context, drafts ...journal.Pending) error {
	if w.lost == nil {
		w.lost = w.record.AppendAll(context.WithoutCancel(ctx), drafts...)
	}
	return w.lost
}

// warn shows a problem, and has it written with the next entries.
func (w *walk) warn(text string) {
	w.drafts = append(w.drafts, journal.Pending{Kind: journal.Warned, Data: journal.Message{Text: text}})
	w.warnings = append(w.warnings, text)
	w.tell(engine.Event{Kind: engine.Warning, Text: text})
}

// warnOfOthers says which steps of other pipelines this one relies on and the
// journal does not show to be done.
func (w *walk) warnOfOthers(ctx context.Context) {
	for _, step := range w.plan.Steps {
		for _, other := range step.ExternalDependsOn {
			id := pipeline.StepID{ResourceGroup: other.ResourceGroup.Value, Step: other.Step.Value}
			if !w.runner.elsewhere(ctx, other.ServiceGroup.Value, id) {
				w.warn(fmt.Sprintf("step %s relies on step %s of %s, which this journal does not show to be done", step.ID(), id, other.ServiceGroup.Value))
			}
		}
	}
}

// elsewhere tells whether a step of another pipeline was ever done.
func (r *Runner) elsewhere(ctx context.Context, serviceGroup string, step pipeline.StepID) bool {
	found, err := journal.Find(ctx, r.Journal, func(history *journal.History) bool {
		_, done := doneAt(history, step)
		return done && inputsOf(history).ServiceGroup == serviceGroup
	}, func(string, error) {})
	return err == nil && len(found) > 0
}

// tellEnded says the outcomes that have been written.
func (w *walk) tellEnded(drafts []journal.Pending) {
	for _, draft := range drafts {
		if result, ok := draft.Data.(journal.Result); ok {
			w.tell(engine.Event{Kind: engine.StepEnded, Step: draft.Step, Attempt: result.Attempt, Result: &result})
		}
	}
}

func (w *walk) tell(event engine.Event) {
	if w.runner.Watch == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	event.At, event.Run = w.runner.Clock.Now(), w.record.Run
	w.runner.Watch(event)
}
