package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/diagnostic"
	"salve/internal/pipeline"
	"salve/journal"
	"salve/runbook"
)

// Runner hands pipelines to the engine as graphs of steps.
type Runner struct {
	Journal journal.Store
	Clock   clock.Clock
	// Holder is written into leases and records.
	Holder journal.Holder
	// Program and Command are for the record, as those of engine.Engine.
	Program, Command string
	// Watch is told what happens, in order, from one goroutine at a time. May be nil.
	Watch func(engine.Event)
	// Appended is as that of engine.Engine; may be nil.
	Appended func(entries int, took time.Duration, err error)
	// NewRun names a new run; nil means by time and chance.
	NewRun func(now time.Time) string
	// Actions are those that can be run, by their names.
	Actions map[string]Action
	// Places bound the steps of this rollout together with those of others; nil bounds them by the plan alone.
	Places *engine.Places
	// OpenLog opens the log of an attempt at a step of a run.
	OpenLog func(run string, step pipeline.StepID, number int) (Log, error)
	// Prepare makes what the steps need, and says that it did. It is called when the
	// target is held, for a revision that may be rolled out, and may take hours. Nil
	// where nothing is to be made.
	Prepare func(ctx context.Context) (string, error)
	// Guards are asked before a run begins, besides those of this package.
	Guards []runbook.Guard
	// Approvals is where it is looked for approvals; nil where no run waits for any.
	Approvals engine.Approvals
	// Content tells the content of the plan as it is now, for runs whose plan somebody agrees to: what they execute is
	// read again after that. Nil where that is not compared.
	Content func(ctx context.Context) (string, error)
}

// Log is where a step's output goes.
type Log interface {
	Write(text []byte) (int, error)
	// Hide masks a text in all that is written from now on.
	Hide(text string)
	Close() error
}

// Options are what an operator may add to a run.
type Options struct {
	// AllowOlder is the reason for rolling out an older revision than was rolled
	// out before; empty is no permission.
	AllowOlder string
	// Answers say what became of steps that were cut off, when their run is resumed.
	// Those that nobody asked for are refused before anything is written.
	Answers map[string]engine.Answer
	// Approval, ApprovedIn and Plan are as those of engine.Options.
	Approval   *journal.ApprovalRule
	ApprovedIn string
	Plan       *engine.ExpectedPlan
}

// Run runs a plan. The open run of the same plan on the same target is resumed
// instead; one of another content is closed. The errors are those of engine.Run.
func (r *Runner) Run(ctx context.Context, plan *Plan, options Options) (engine.Result, error) {
	if err := r.Check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	return r.engine().Run(ctx, r.book(plan), r.options(plan, options))
}

// Plan makes the plan that a run would execute, and changes nothing. The result has none where a run would be refused,
// and says why.
func (r *Runner) Plan(ctx context.Context, plan *Plan, options Options) (engine.Result, error) {
	if err := r.Check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	return r.engine().Plan(ctx, r.book(plan), r.options(plan, options))
}

// Resume goes on with an open run of the plan.
func (r *Runner) Resume(ctx context.Context, plan *Plan, run string, options Options) (engine.Result, error) {
	if err := r.Check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	return r.engine().Resume(ctx, r.book(plan), run, r.options(plan, options))
}

func (r *Runner) engine() *engine.Engine {
	return &engine.Engine{
		Journal: r.Journal, Clock: r.Clock, Holder: r.Holder, Watch: r.Watch, NewRun: r.NewRun, Appended: r.Appended,
		Program: r.Program, Command: r.Command, Places: r.Places, Approvals: r.Approvals,
	}
}

func (r *Runner) options(plan *Plan, options Options) engine.Options {
	run := engine.Options{
		Answers:     options.Answers,
		Approval:    options.Approval,
		ApprovedIn:  options.ApprovedIn,
		Plan:        options.Plan,
		CheckAnswer: plan.checkAnswer,
		SameRun:     plan.same,
		Supersede:   func(open *journal.History) error { return r.supersede(plan, open) },
	}
	if options.AllowOlder != "" {
		run.Overrides = map[string]string{revisionOrder: options.AllowOlder}
	}
	return run
}

// checkAnswer refuses to take a step for done whose outputs a step needs.
func (p *Plan) checkAnswer(open *journal.History, name string, answer engine.Answer) error {
	if answer != engine.AnswerDone {
		return nil
	}
	for _, step := range p.Steps {
		if open.Step(step.ID().String()).Finished() {
			continue
		}
		for _, input := range step.Inputs {
			if input.ID().String() == name {
				return invalid("step %s requires the output %q of %s, which is not known: answer %s=%s",
					step.ID(), input.Name.Value, name, name, engine.AnswerAgain)
			}
		}
	}
	return nil
}

// supersede tells whether an open run of another content may be closed: what it has
// not done is not wanted any more. One of which it isn't known what it did is kept,
// unless the new run finds that out.
func (r *Runner) supersede(plan *Plan, open *journal.History) error {
	if open.Header.Runbook != Name {
		return invalid("run %s of %s is open on this target: resume or abandon it first", open.Header.Run,
			open.Header.Runbook)
	}
	for _, step := range open.Steps() {
		if step.Unsettled() && !r.observesAfter(plan, open, step.Name) {
			return invalid("run %s is open on this target, and what became of its step %s is not known. "+
				"hint: salve resume %s, or salve runs abandon %s", open.Header.Run, step.Name, open.Header.Run, open.Header.Run)
		}
	}
	return nil
}

// observesAfter tells whether a step of another run is in the plan as well, and its
// action finds out by itself what became of an attempt that was cut off.
func (r *Runner) observesAfter(plan *Plan, open *journal.History, name string) bool {
	if open.Plan == nil {
		return false
	}
	for _, step := range plan.Steps {
		action, known := r.Actions[step.Action.Value]
		if step.ID().String() != name || plan.skips(step) || !known || !action.Capabilities().Repeatable {
			continue
		}
		return slices.ContainsFunc(open.Plan.Steps, func(before runbook.PlannedStep) bool {
			return before.Name == name && isAction(before.Changes, step.Action.Value)
		})
	}
	return false
}

// Check finds, before anything is locked, what would keep steps from being run:
// all of it where nothing is to be made first.
func (r *Runner) Check(ctx context.Context, plan *Plan) error {
	if err := r.known(plan); err != nil || r.Prepare != nil {
		return err
	}
	return r.able(ctx, plan)
}

// known refuses a plan with actions that can't be run.
func (r *Runner) known(plan *Plan) error {
	lacking := &NoProgramError{}
	for _, step := range plan.Steps {
		if _, known := r.Actions[step.Action.Value]; !known && !plan.skips(step) {
			lacking.Steps = append(lacking.Steps, step)
		}
	}
	if len(lacking.Steps) > 0 {
		return lacking
	}
	return nil
}

// able refuses a plan with a step of which its action says that it can't be run.
func (r *Runner) able(ctx context.Context, plan *Plan) error {
	return refused(plan, func(step *pipeline.Step) string {
		action := r.Actions[step.Action.Value]
		err := action.Check(ctx, step)
		plan.secrets.learn(action, step)
		if err != nil {
			return fmt.Sprintf("%s: step %s: %v", step.At, step.ID(), err)
		}
		return ""
	})
}

// refused gathers what is wrong with the steps that are to be run.
func refused(plan *Plan, wrong func(*pipeline.Step) string) error {
	var problems []string
	for _, step := range plan.Steps {
		if plan.skips(step) {
			continue
		}
		if problem := wrong(step); problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		return invalid("%s", listed(problems))
	}
	return nil
}

// listed is a list of problems as a sentence, which is no longer than anybody reads.
func listed(problems []string) string {
	const shown = 20
	if len(problems) > shown {
		problems = append(problems[:shown:shown], fmt.Sprintf("and %d more", len(problems)-shown))
	}
	for i, problem := range problems {
		problems[i] = diagnostic.Bounded(problem)
	}
	return strings.Join(problems, "; ")
}

func invalid(format string, arguments ...any) error {
	return &engine.InvalidError{Reason: fmt.Sprintf(format, arguments...)}
}

// InputsOf reads what a run of a pipeline was begun with.
func InputsOf(header journal.Header) (Inputs, error) {
	var inputs Inputs
	if header.Runbook != Name {
		return inputs, fmt.Errorf("run %q is of runbook %q, and of no pipeline", header.Run, header.Runbook)
	}
	if err := json.Unmarshal(header.Inputs, &inputs); err != nil {
		return inputs, fmt.Errorf("the inputs in the journal of run %q: %w", header.Run, err)
	}
	return inputs, nil
}

// inputsOf is InputsOf where another runbook's record simply has none.
func inputsOf(history *journal.History) Inputs {
	inputs, err := InputsOf(history.Header)
	if err != nil {
		return Inputs{}
	}
	return inputs
}

// same gives nil when a run was started from the plan's content and configuration.
func (p *Plan) same(open journal.Header) error {
	inputs, err := InputsOf(open)
	if err == nil && inputs.Digest != p.Inputs.Digest {
		err = invalid("run %s was started with another content of %s, of what that names, or of its configuration; "+
			"bring that back, or start a new run with salve pipeline run, which closes this one", open.Run, p.Inputs.Pipeline)
	}
	return err
}
