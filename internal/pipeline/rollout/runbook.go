package rollout

import (
	"context"
	"fmt"
	"strings"
	"time"

	"salve/internal/pipeline"
	"salve/runbook"
)

const (
	// budget bounds a rollout: a Soak may last for days.
	budget = 30 * 24 * time.Hour
	// lingers is how long an action may take to return, beyond the time that its own
	// process is given to end.
	lingers = time.Minute
)

// skipped is why a step was skipped.
const skipped = "skipped by --skip-actions"

// skips tells whether a step is to be skipped: what waits for it goes on, and yet
// nobody has done it.
func (p *Plan) skips(step *pipeline.Step) bool {
	for _, action := range p.Inputs.Skip {
		if action == step.Action.Value {
			return true
		}
	}
	return false
}

// book makes the runbook of a plan: each step of the pipeline is one of the run.
func (r *Runner) book(plan *Plan) runbook.Runbook {
	w := newWork(r, plan)
	book := runbook.Runbook{
		Name: Name, Version: version, Target: plan.Target(), Locks: plan.Inputs.Targets, Inputs: plan.Inputs, Budget: budget,
		Parallel: max(1, plan.Inputs.Concurrency), KeepGoing: plan.Inputs.KeepGoing, KeepOpen: true,
		Success: runbook.RolledOut,
		Guards:  w.guards(), Checks: []runbook.Guard{w.allDone()},
	}
	for _, i := range plan.Graph.Order() {
		book.Steps = append(book.Steps, w.step(i))
	}
	return book
}

func (w *work) step(i int) runbook.Step {
	step := w.plan.Steps[i]
	after := []string{runbook.Start}
	for _, before := range w.plan.Graph.Dependencies(i) {
		after = append(after, w.name(before))
	}
	made := runbook.Step{
		Name: w.name(i), Changes: step.Action.Value, After: after,
		Inputs:  func(run runbook.Run) (any, error) { return w.inputs(run, step) },
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation { return w.observe(ctx, run, i) },
		Apply:   func(ctx context.Context, run runbook.Run) error { return w.apply(ctx, run, i) },
		Stale:   func(run runbook.Run) (bool, error) { return w.stale(run, i) },
		Grace:   w.plan.Inputs.Grace + lingers,
	}
	if w.plan.skips(step) {
		made.Skip = skipped
		return made
	}
	made.Idle = w.runner.Actions[step.Action.Value].Capabilities().Idle
	if rule := step.Retry; rule != nil {
		made.Retries = &runbook.Retries{Count: rule.Count, Between: rule.Between.Duration, When: func(err error) bool {
			return says(err, rule.ErrorContainsAny)
		}}
	}
	return made
}

func (w *work) name(i int) string { return w.plan.Steps[i].ID().String() }

// inputs are what a step is given, secrets masked. Before its predecessors are done
// that is what is known of it.
func (w *work) inputs(run runbook.Run, step *pipeline.Step) (any, error) {
	variables, err := w.variables(step)
	if err == nil {
		return masked(variables), nil
	}
	for _, input := range step.Inputs {
		if status := run.Step(input.ID().String()); !status.Done && !status.Skipped {
			return masked(w.previewed(step)), nil
		}
	}
	return nil, failed(err.Error())
}

// observe tells what became of attempts before. What a step did is seen by its
// action alone; of an attempt that was cut off an operator is asked, unless the step
// can be run again.
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
	if w.repeatable(i) {
		return runbook.NotStarted("%s; it can be run again", reason).Partially()
	}
	question := fmt.Sprintf(
		"Has %s done its work? Look, and answer by salve resume %s --answer %s=done, or =again to have it run again.",
		name, run.ID(), name)
	if strings.HasPrefix(reason, unread) {
		question += " Before it runs again, mend what it hands on: " + reason + "."
	}
	return runbook.Undecidable(question, "%s", reason)
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
	if host := w.history.host(run.ID(), w.name(i)); host != "" && host != w.runner.Holder.Host {
		return run.Warn(ctx, "step %s was at work on %s, where it can't be seen from here whether something of it still runs",
			step.ID(), host)
	}
	return nil
}

// stale tells whether a step that is done made secret outputs that a step needs
// which is not: they are not kept.
func (w *work) stale(run runbook.Run, i int) (bool, error) {
	if err := w.recall(run, i); err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, taker := range w.plan.takers[w.plan.Steps[i].ID()] {
		step, input := taker.step, taker.input
		if !w.outputs.lost(input) || w.plan.skips(step) || run.Step(step.ID().String()).Done {
			continue
		}
		if w.plan.skips(w.plan.Steps[i]) || !w.repeatable(i) {
			err := &MissingInputError{Step: step.ID(), Input: input, Lost: true}
			return false, invalid("%v; abandon the run, or mark the step that makes it idempotent: true", err)
		}
		return true, nil
	}
	return false, nil
}

// allDone is the check of a rollout: every step is done by the journal, or was to be
// skipped.
func (w *work) allDone() runbook.Guard {
	return runbook.Ask("steps-done", "Is every step done?",
		func(_ context.Context, run runbook.Run) ([]string, error) {
			var missing []string
			for i, step := range w.plan.Steps {
				if !w.plan.skips(step) && !run.Step(w.name(i)).Done {
					missing = append(missing, w.name(i))
				}
			}
			return missing, nil
		},
		func(missing []string) runbook.Finding {
			if len(missing) > 0 {
				return runbook.No("not done: %s", strings.Join(missing, ", ")).WithOutcome(runbook.Failed)
			}
			return runbook.Yes("every step is done that was not to be skipped")
		})
}
