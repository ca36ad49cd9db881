package engine

import (
	"context"
	"errors"
	"slices"

	"salve/journal"
	"salve/runbook"
)

// proposal is what a plan is made of.
type proposal struct {
	steps    []runbook.Step
	findings []runbook.Finding
	tidies   bool
	// unprepared: guards were left out for which something would have been made.
	unprepared bool
}

// unprepared are the guards before the first one for which something is made, such as programs that are built: nothing
// is made for a plan that nobody has agreed to. Those after it may ask about what is made.
func unprepared(guards []runbook.Guard) []runbook.Guard {
	if i := slices.IndexFunc(guards, func(guard runbook.Guard) bool { return guard.Prepare != nil }); i >= 0 {
		return guards[:i]
	}
	return guards
}

// askUnprepared asks those of the run's guards that may be asked for a plan that is proposed.
func (x *execution) askUnprepared(ctx context.Context, purpose string, guards []runbook.Guard, made *proposal) error {
	run, asked := x.view(""), unprepared(guards)
	made.unprepared = len(asked) < len(guards)
	var err error
	made.findings, err = x.evaluateAs(ctx, journal.Evaluation{For: purpose, Round: run.Round(), Proposed: made.unprepared},
		run, asked)
	return err
}

// proposeStart finds the steps of a run that has not begun. Where guards don't pass and
// something is to be tidied up before, that is the plan: then they are asked again.
func (x *execution) proposeStart(ctx context.Context) (proposal, error) {
	var made proposal
	for _, step := range x.book.Preflight {
		run := x.view(step.Name)
		look := journal.Evaluation{For: "step " + step.Name, Round: run.Round(), Preconditions: true}
		if _, err := x.evaluateAs(ctx, look, run, notOverridable(step.Preconditions)); err != nil {
			return made, err
		}
		seen, err := x.observe(ctx, step)
		if err != nil {
			return made, err
		}
		if seen.State != runbook.StateDone {
			made.steps, made.tidies = append(made.steps, step), true
		}
	}
	err := x.askUnprepared(ctx, "start", x.book.Guards, &made)
	var stops *decided
	if errors.As(err, &stops) && made.tidies {
		return made, nil
	}
	made.steps = append(made.steps, x.book.Steps...)
	return made, err
}

// proposeRest finds the steps that are left of a run that has begun.
func (x *execution) proposeRest(ctx context.Context) (proposal, error) {
	var made proposal
	var err error
	if made.steps, err = x.remaining(ctx); err != nil {
		return made, err
	}
	err = x.askUnprepared(ctx, "resume", x.onResume(), &made)
	if err != nil || len(made.steps) == 0 || x.log.step(made.steps[0].Name).Unsettled() {
		return made, err
	}
	first := made.steps[0]
	run := x.view(first.Name)
	findings, err := x.evaluateAs(ctx, journal.Evaluation{For: "step " + first.Name, Round: run.Round()}, run,
		x.guardsOf(first))
	made.findings = append(made.findings, findings...)
	return made, err
}
