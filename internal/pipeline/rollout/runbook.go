package rollout

import (
	"context"
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
		Name: w.name(i), Changes: w.plan.changes(step), After: after,
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
// that is what is known of it: what is not is empty, which another value may fill.
func (w *work) inputs(run runbook.Run, step *pipeline.Step) (any, error) {
	if w.unexamined(step) {
		return unknown(step), nil
	}
	variables, err := w.variables(step)
	if err == nil {
		return masked(variables), nil
	}
	for _, input := range step.Inputs {
		status := run.Step(input.ID().String())
		if !status.Done && !status.Skipped || status.Done && w.madeAgain(input) {
			return w.known(step), nil
		}
	}
	return nil, failed(err.Error())
}

// unexamined tells whether it is not known yet which variables of a step are secrets: what tells may be made first.
func (w *work) unexamined(step *pipeline.Step) bool {
	_, discreet := w.runner.Actions[step.Action.Value].(Discreet)
	return discreet && !w.plan.secrets.examined[step.ID()]
}

// madeAgain tells whether an output of a step that is done was not kept, so that the step is done again.
func (w *work) madeAgain(input pipeline.Input) bool {
	w.mu.Lock()
	lost := w.outputs.lost(input)
	w.mu.Unlock()
	i, found := w.plan.index[input.ID()]
	return found && lost && w.repeatable(i)
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
		stepsDone)
}

func stepsDone(missing []string) runbook.Finding {
	if len(missing) > 0 {
		return runbook.No("not done: %s", strings.Join(missing, ", ")).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("every step is done that was not to be skipped")
}
