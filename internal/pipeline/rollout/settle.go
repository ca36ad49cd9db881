package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"salve/journal"
	"salve/runbook"
)

// settle finds out what became of the steps that an earlier process had begun. An
// attempt that can be made again is closed as failed; for any other a person's
// answer is taken, or asked for. What such an attempt left running is ended first.
func (w *walk) settle(ctx context.Context, answers map[string]Answer) (journal.Verdict, error) {
	for i := range w.plan.Steps {
		history := w.record.Step(w.name(i))
		if !history.Unsettled() {
			continue
		}
		if err := w.clear(ctx, i); err != nil {
			return journal.Verdict{}, err
		}
		result, settled := w.became(i, history, answers[history.Name])
		if settled || history.Open {
			w.drafts = append(w.drafts, journal.Pending{Kind: journal.Outcome, Step: history.Name, Data: result})
		}
	}
	if err := w.commit(ctx); err != nil {
		return journal.Verdict{}, err
	}
	return w.question(), nil
}

// became says what became of an attempt that was cut off. settled is false when
// nobody knows.
func (w *walk) became(i int, history journal.StepHistory, answer Answer) (result journal.Result, settled bool) {
	result = journal.Result{Attempt: history.Attempts, Result: journal.Unknown, Reason: "its runner died while it was at work"}
	who := w.runner.Holder
	switch {
	case answer == Done:
		result.Result, result.Observed = journal.Done, true
		result.Reason = fmt.Sprintf("%s@%s says that it is done", who.User, who.Host)
	case answer == Again:
		result.Result = journal.Failure
		result.Reason = fmt.Sprintf("%s@%s says that it is to be run again", who.User, who.Host)
	case w.repeatable(i):
		result.Result = journal.Failure
		result.Reason += "; it can be run again"
	default:
		return result, false
	}
	return result, true
}

// check refuses answers that nobody asked for.
func (w *walk) check(answers map[string]Answer) error {
	for name, answer := range answers {
		if !w.record.Step(name).Unsettled() {
			return usage("nobody asks what became of step %q", name)
		}
		if answer != Done {
			continue
		}
		for _, step := range w.plan.Steps {
			if w.record.Step(step.ID().String()).Finished() {
				continue
			}
			for _, input := range step.Inputs {
				if input.ID().String() == name {
					return usage("step %s needs the output %q of %s, which is not known: answer %s=%s", step.ID(), input.Name.Value, name, name, Again)
				}
			}
		}
	}
	return nil
}

// clear ends what an attempt has left running on this machine.
func (w *walk) clear(ctx context.Context, i int) error {
	step := w.plan.Steps[i]
	action, clearing := w.runner.Actions[step.Action.Value].(Clearing)
	if !clearing {
		return nil
	}
	left, err := action.Clear(ctx, w.record.Run, step.ID())
	if err != nil {
		return fmt.Errorf("ending what step %s has left running: %w", step.ID(), err)
	}
	if left != "" {
		w.warn(fmt.Sprintf("step %s had left running, and these were ended: %s", step.ID(), left))
	}
	if last := w.runnerOf(w.name(i)); last.Host != w.runner.Holder.Host {
		w.warn(fmt.Sprintf("step %s was at work on %s, where it can't be seen from here whether something of it still runs", step.ID(), last.Host))
	}
	return nil
}

// runnerOf is who made the last attempt at a step.
func (w *walk) runnerOf(step string) journal.Holder {
	at := w.record.Header.Holder
	last := at
	for _, entry := range w.record.Entries {
		if resumption, ok := decode[journal.Resumption](entry, journal.Resumed); ok {
			at = resumption.Holder
		}
		if entry.Kind == journal.Intended && entry.Step == step {
			last = at
		}
	}
	return last
}

// question asks what became of the steps of which that isn't known.
func (w *walk) question() journal.Verdict {
	var names, reasons []string
	for i := range w.plan.Steps {
		if history := w.record.Step(w.name(i)); history.Unsettled() {
			names = append(names, history.Name)
			reasons = append(reasons, fmt.Sprintf("step %s: %s", history.Name, history.Last.Reason))
		}
	}
	if len(names) == 0 {
		return journal.Verdict{}
	}
	slices.Sort(reasons)
	return journal.Verdict{
		Outcome: runbook.NeedsAttention,
		Reason:  strings.Join(reasons, "; ") + "; " + w.standing(),
		Question: fmt.Sprintf("Has %s done its work? Look, and answer by salve resume %s --answer %s=done, or =again to have it run again",
			some(names), w.record.Run, strings.Join(names, "=done --answer ")),
	}
}
