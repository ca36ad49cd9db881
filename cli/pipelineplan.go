package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// proposedPlan is the plan that a run of pipelines would execute, or why it would execute none.
type proposedPlan struct {
	// Plan is its digest, which binds a run with --plan; empty where there is none.
	Plan string `json:"plan,omitempty"`
	// Refused is why a run would change nothing; empty where it would act, or has nothing left to do.
	Refused string `json:"refused,omitempty"`
	// Failed names the steps that could not be run as they are, or whose dry runs failed: there is no plan then.
	Failed []string `json:"failed,omitempty"`
	// Warnings are what is not in the way of a run, such as another one that is open.
	Warnings []string `json:"warnings,omitempty"`

	exit  int
	whole *runbook.Plan
	// printed: why it is refused stands beside the steps.
	printed bool
}

// judge takes the plan back where a run of it is known to come to nothing, and completes the commands that are named.
//
// Unfit is why this machine can't execute the programs, which is printed elsewhere; empty where it can.
func (p *proposedPlan) judge(a *app, unfit string, failed []string) {
	if p.Failed = failed; unfit != "" && p.Refused == "" {
		p.Refused, p.printed = unfit, true
	}
	if unfit != "" || len(failed) > 0 {
		p.Plan, p.whole, p.exit = "", nil, exitFailed
	}
	p.Refused = a.ownCommands(p.Refused)
	for i, warning := range p.Warnings {
		p.Warnings[i] = a.ownCommands(warning)
	}
}

// proposedBy is what a preview of the engine comes to. What is invalid keeps a run from beginning.
func proposedBy(result engine.Result, err error) (proposedPlan, error) {
	var invalid *engine.InvalidError
	switch {
	case errors.As(err, &invalid):
		return proposedPlan{Refused: invalid.Reason, exit: exitFailed}, nil
	case err != nil:
		return proposedPlan{}, err
	}
	made := proposedPlan{Warnings: result.Warnings}
	switch {
	case result.Outcome != "":
		made.Refused, made.exit = result.Reason, exitOf(result.Outcome)
	case result.Plan != nil:
		made.Plan, made.whole = result.Plan.Digest, result.Plan
	}
	return made, nil
}

// propose makes the plan of a pipeline as a run would.
func (j *pipelineRun) propose(ctx context.Context) (proposedPlan, error) {
	runner := j.runner(&watch{app: j.app, clock: clock.RealClock{}})
	runner.Watch = nil // what a preview finds is printed once, with all else
	return proposedBy(runner.Plan(ctx, j.plan, rollout.Options{AllowOlder: j.options.AllowOlder, Plan: j.expected}))
}

// propose makes the plan of the whole as a run would.
func (e *entrypointRun) propose(ctx context.Context) (proposedPlan, error) {
	runner := e.runner(&watch{app: e.app, clock: clock.RealClock{}})
	runner.Watch = nil
	return proposedBy(runner.Plan(ctx, e.plan, entrypoint.Options{AllowOlder: e.options.AllowOlder, Plan: e.expected}))
}

// unchanged is how a preview ends: what would become of a run, and how to begin one. A plan that was asked for is
// written before anybody is told to execute it.
func (r *pipelineRequest) unchanged(a *app, made proposedPlan) (says string, _ error) {
	a.exit = made.exit
	for _, warning := range made.Warnings {
		says += "Warning: " + warning + "\n"
	}
	switch {
	case made.printed:
		return says + "Nothing was changed, and a run would be refused." + made.failing("\nThe") + r.unwritten(), nil
	case made.Refused != "":
		return says + "Nothing was changed, and a run would be refused: " + made.Refused + made.failing("\nThe") +
			r.unwritten(), nil
	case len(made.Failed) > 0:
		return says + "Nothing was changed, and" + made.failing(" the") + r.unwritten(), nil
	case made.whole == nil:
		return says + "Nothing was changed, and nothing is left to do." + r.unwritten(), nil
	}
	if r.planFile != "" {
		return says + "Nothing was changed. To act: " + a.boundCommand(r.planFile), writePlanFile(r.planFile, *made.whole)
	}
	says += "Nothing was changed. To act: " + a.actCommand()
	if r.plan == "" {
		says += fmt.Sprintf("\nPlan %s: with --plan and this digest, a run executes exactly that or nothing.", made.Plan)
	}
	return says, nil
}

// failing names the steps that failed, after a word that begins it; empty where none did.
func (p proposedPlan) failing(begin string) string {
	if len(p.Failed) == 0 {
		return ""
	}
	return fmt.Sprintf("%s dry run failed at %s: %s.", begin, report.Count(len(p.Failed), "step", "steps"),
		strings.Join(p.Failed, ", "))
}

// unwritten says of the file that was asked for that there is none.
func (r *pipelineRequest) unwritten() string {
	if r.planFile == "" {
		return ""
	}
	return "\nNo plan is written to " + r.planFile + "."
}

// openHeader is that of the run that is open on a target; nil where there is none, or none that can be read, which is
// for the engine to refuse.
func openHeader(ctx context.Context, kept *journal.Location, target string) *journal.Header {
	peeked, err := kept.Peek(ctx, target)
	if err != nil {
		return nil
	}
	found, err := journal.FindOpen(ctx, kept, target, peeked.Open)
	if err != nil || found.Record == nil {
		return nil
	}
	return &found.Record.Header
}
