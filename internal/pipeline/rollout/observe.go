package rollout

import (
	"context"
	"fmt"
	"io"
	"strings"

	"salve/internal/diagnostic"
	"salve/journal"
	"salve/runbook"
)

// again ends what is said of an attempt that may be followed by another one; once, however often that came to nothing.
const again = "; it can be run again"

// observe tells what became of attempts before. What a step did is seen by its
// action alone, or by the command that the step has for that; of an attempt that was cut
// off an operator is asked, unless the step can be run again.
func (w *work) observe(ctx context.Context, run runbook.Run, i int) runbook.Observation {
	name := w.name(i)
	status := run.Step(name)
	if !status.Unsettled {
		return runbook.NotStarted("not attempted, or to be attempted again")
	}
	if err := w.clear(ctx, run, i); err != nil {
		return runbook.NotObserved(err)
	}
	reason := status.Reason
	if reason == "" {
		reason = "its runner died while it was at work"
	}
	if observing := w.observing(i); observing != nil {
		seen, said := w.observed(ctx, run, i, observing)
		if seen.State != "" || seen.Err != nil {
			return seen
		}
		reason += "; its observe command does not tell: " + said
	}
	if w.repeatable(i) {
		return runbook.NotStarted("%s", strings.TrimSuffix(reason, again)+again).Partially()
	}
	question := fmt.Sprintf(
		"Has %s done its work? Look, and answer by salve resume %s --answer %s=done, or =again to have it run again.",
		name, run.ID(), name)
	if strings.HasPrefix(reason, unread) {
		question += " Before it runs again, mend what it hands on: " + reason + "."
	}
	return runbook.Undecidable(question, "%s", reason)
}

// observing is a step's action where it can find out what became of the step; nil where
// it can't.
func (w *work) observing(i int) Observing {
	step := w.plan.Steps[i]
	observing, able := w.runner.Actions[step.Action.Value].(Observing)
	if !able || !observing.Observes(step) {
		return nil
	}
	return observing
}

// observed has the step observed. The observation is empty when that does not tell, and
// said is why.
func (w *work) observed(ctx context.Context, run runbook.Run, i int,
	observing Observing) (seen runbook.Observation, said string) {
	step := w.plan.Steps[i]
	for _, input := range step.Inputs { // after a crash this comes before the schedule has recalled them
		if producer, found := w.plan.index[input.ID()]; found {
			if err := w.recall(run, producer); err != nil {
				return runbook.NotObserved(err), ""
			}
		}
	}
	variables, err := w.variables(step)
	if err != nil {
		return seen, err.Error()
	}
	attempt, err := w.attempt(ctx, run, i, variables)
	if err != nil {
		return runbook.NotObserved(err), ""
	}
	attempt.Number = 1 // its log goes on
	outcome := w.logged(ctx, attempt, func(ctx context.Context, attempt *Attempt) Outcome {
		_, _ = io.WriteString(attempt.Log, "--- observe ---\n") // what is not logged decides nothing
		return observing.Observe(ctx, attempt)
	})
	said = diagnostic.Printable(attempt.Mask(outcome.Reason, texts(outcome.Outputs)...))
	switch {
	case ctx.Err() != nil || outcome.Refused: // its command was cut off, or never run: it told nothing
		return seen, said
	case outcome.Result == journal.Failure && w.otherHost(run, i) != "":
		return seen, fmt.Sprintf("%s, and whether something of the step still runs on %s can't be seen from here",
			said, w.otherHost(run, i))
	case outcome.Result == journal.Failure:
		// The command may have seen a part only: that is never recorded as refused.
		return runbook.NotStarted("its observe command says that it has not done its work: %s", said).Partially(), ""
	case outcome.Result != journal.Done:
		return seen, said
	}
	for _, taker := range w.plan.takers[step.ID()] {
		if _, made := outcome.Outputs[taker.input.Name.Value]; !made && !w.plan.skips(taker.step) &&
			!run.Step(taker.step.ID().String()).Done {
			return seen, fmt.Sprintf("it says that the step is done, and does not hand on %q, which step %s requires",
				taker.input.Name.Value, taker.step.ID())
		}
	}
	if err := w.take(ctx, run, i, outcome); err != nil {
		return runbook.NotObserved(err), ""
	}
	return runbook.Done("%s", strings.TrimSuffix("its observe command says that it has done its work: "+said, ": ")), ""
}

// texts are the secrets among outputs.
func texts(made map[string]Output) (all []string) {
	for _, output := range made {
		if output.Secret {
			all = append(all, Variable{Value: output.Value}.Text())
		}
	}
	return all
}

// repeatable tells whether a step can be run again without asking.
func (w *work) repeatable(i int) bool {
	step := w.plan.Steps[i]
	action, known := w.runner.Actions[step.Action.Value]
	return step.Idempotent || known && action.Capabilities().Repeatable
}

// clear ends what an attempt has left running on this machine.
func (w *work) clear(ctx context.Context, run runbook.Run, i int) error {
	step := w.plan.Steps[i]
	action, clearing := w.runner.Actions[step.Action.Value].(Clearing)
	if !clearing {
		return nil
	}
	left, err := action.Clear(ctx, run.ID(), step.ID())
	if err != nil {
		return fmt.Errorf("ending what step %s has left running: %w", step.ID(), err)
	}
	if left != "" {
		if err := run.Warn(ctx, "step %s had left running, and these were ended: %s", step.ID(), left); err != nil {
			return err
		}
	}
	if host := w.otherHost(run, i); host != "" {
		return run.Warn(ctx, "step %s was at work on %s, where it can't be seen from here whether something of it still runs",
			step.ID(), host)
	}
	return nil
}

// otherHost is the machine on which the last attempt at a step was made, where that is not
// this one.
func (w *work) otherHost(run runbook.Run, i int) string {
	if host := w.history.host(run.ID(), w.name(i)); host != w.runner.Holder.Host {
		return host
	}
	return ""
}
