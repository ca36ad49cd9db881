package rollout

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/journal"
	"salve/runbook"
)

// Runner runs pipelines on a journal.
type Runner struct {
	Journal journal.Store
	Clock   clock.Clock
	// Holder is written into leases and records.
	Holder journal.Holder
	// Watch is told what happens, in order, from one goroutine at a time. May be nil.
	Watch func(engine.Event)
	// NewRun names a new run; nil means by time and chance.
	NewRun func(now time.Time) string
	// Actions are those that can be run, by their names.
	Actions map[string]Action
	// OpenLog opens the log of an attempt at a step of a run.
	OpenLog func(run string, step pipeline.StepID, number int) (Log, error)
	// Prepare makes what the steps need, and says that it did. It is called when the
	// target is held, for a revision that may be rolled out. Nil where nothing is to
	// be made.
	Prepare func(ctx context.Context) (string, error)
	// Guards are asked before a run begins, besides those of this package.
	Guards []runbook.Guard
}

// Log is where a step's output goes.
type Log interface {
	Write(text []byte) (int, error)
	// Hide masks a text in all that is written from now on.
	Hide(text string)
	Close() error
}

// Answer is what a person says became of an attempt that was cut off.
type Answer string

// The answers.
const (
	// Done: the step did what it is there for.
	Done Answer = "done"
	// Again: it is to be run again.
	Again Answer = "again"
)

// Options are what a person may add to a run.
type Options struct {
	// AllowOlder is the reason for rolling out an older revision than was rolled
	// out before; empty is no permission.
	AllowOlder string
	// Answers settle what became of steps that were cut off, when their run is gone
	// on with. Those that nobody asked for are refused before anything is written.
	Answers map[string]Answer
}

// overrides are the options in the words of guards.
func (o Options) overrides() map[string]string {
	if o.AllowOlder == "" {
		return nil
	}
	return map[string]string{revisionOrder: o.AllowOlder}
}

// Run runs a plan. The open run of the same plan on the same target is gone on
// with instead. The error is not nil when the run could not begin or its journal
// could not be written: *engine.UsageError, *journal.HeldError,
// *journal.BrokenError, or what the backend says.
func (r *Runner) Run(ctx context.Context, plan *Plan, options Options) (engine.Result, error) {
	if err := r.check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	name := r.newRun()
	held, err := r.lock(ctx, plan, name)
	if err != nil {
		return engine.Result{}, err
	}
	defer held.release(ctx)
	past, err := r.past(ctx, plan)
	if err != nil {
		return engine.Result{}, err
	}
	open := past.open()
	if open != nil && inputsOf(open.History).Digest == plan.Inputs.Digest {
		return r.resume(ctx, plan, open, held, past, options)
	}
	if open != nil {
		if err := r.supersede(ctx, open, held, plan, name); err != nil {
			return engine.Result{}, err
		}
	}
	header, err := r.header(plan, name, options)
	if err != nil {
		return engine.Result{}, err
	}
	record, err := journal.Create(ctx, r.Journal, held.lease, r.Clock.Now, header)
	if err != nil {
		return engine.Result{}, err
	}
	return r.execute(ctx, r.walk(plan, record, held, past), options)
}

// Resume goes on with an open run of the plan.
func (r *Runner) Resume(ctx context.Context, plan *Plan, run string, options Options) (engine.Result, error) {
	if err := r.check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	held, err := r.lock(ctx, plan, run)
	if err != nil {
		return engine.Result{}, err
	}
	defer held.release(ctx)
	past, err := r.past(ctx, plan)
	if err != nil {
		return engine.Result{}, err
	}
	record, err := journal.Load(ctx, r.Journal, run)
	switch {
	case err != nil:
		return engine.Result{}, err
	case record.MigratedTo != nil:
		return engine.Result{}, journal.Elsewhere(record.History)
	case record.Header.Target.ID != plan.Target().ID || record.Header.Runbook != Name:
		return engine.Result{}, usage("run %q is of %s on %s", run, record.Header.Runbook, record.Header.Target.ID)
	case record.Closed != nil:
		return engine.Result{}, usage("run %q is closed: %s (%s)", run, record.Closed.Outcome, record.Closed.Reason)
	case inputsOf(record.History).Digest != plan.Inputs.Digest:
		return engine.Result{}, usage("run %q was begun with another content of %s, of what that names, or of its configuration; bring that back, or begin a new run with salve pipeline run, which closes this one", run, plan.Inputs.Pipeline)
	}
	return r.resume(ctx, plan, record, held, past, options)
}

func (r *Runner) resume(ctx context.Context, plan *Plan, record *journal.Record, held *leases, past *past, options Options) (engine.Result, error) {
	if record.Header.Version != version {
		return engine.Result{}, usage("run %q was begun by a program of version %q, this is version %q: resume it with the program that began it", record.Run, record.Header.Version, version)
	}
	w := r.walk(plan, record, held, past)
	if err := w.check(options.Answers); err != nil {
		return engine.Result{}, err
	}
	if err := record.Reopen(held.lease, r.Clock.Now); err != nil {
		return engine.Result{}, err
	}
	inputs, err := encode(plan.Inputs)
	if err != nil {
		return engine.Result{}, err
	}
	resumption := journal.Resumption{Holder: r.holder(record.Run), Overrides: options.overrides(), Inputs: inputs}
	if err := record.Append(ctx, journal.Resumed, "", resumption); err != nil {
		return engine.Result{}, err
	}
	return r.execute(ctx, w, options)
}

// supersede closes an open run of another content: what it has not done is not
// wanted any more. A run of which it isn't known what it did is not closed, unless
// the new one finds that out.
func (r *Runner) supersede(ctx context.Context, open *journal.Record, held *leases, plan *Plan, by string) error {
	if open.Header.Runbook != Name {
		return usage("run %q of %s is open on this target: resume or abandon it first", open.Run, open.Header.Runbook)
	}
	for _, step := range open.Steps() {
		if step.Unsettled() && !r.looksAfter(plan, open, step.Name) {
			return usage("run %q is open on this target, and what became of its step %s is not known: salve resume or salve runs abandon it first", open.Run, step.Name)
		}
	}
	if err := open.Reopen(held.lease, r.Clock.Now); err != nil {
		return err
	}
	return open.Append(ctx, journal.Closed, "", journal.Verdict{
		Outcome: runbook.Failed, Reason: fmt.Sprintf("superseded by run %s of another content of %s", by, plan.Inputs.Pipeline),
	})
}

// looksAfter tells whether a step of another run is in the plan as well, and its
// action looks by itself what became of an attempt that was cut off.
func (r *Runner) looksAfter(plan *Plan, open *journal.Record, name string) bool {
	if open.Plan == nil {
		return false
	}
	for _, step := range plan.Steps {
		action, known := r.Actions[step.Action.Value]
		if step.ID().String() != name || plan.skips(step) || !known || !action.Traits().Repeatable {
			continue
		}
		return slices.ContainsFunc(open.Plan.Steps, func(before runbook.PlannedStep) bool {
			return before.Name == name && before.Changes == step.Action.Value
		})
	}
	return false
}

// check finds, before anything is locked, what would keep steps from being run:
// all of it where nothing is to be made first.
func (r *Runner) check(ctx context.Context, plan *Plan) error {
	if err := r.known(plan); err != nil || r.Prepare != nil {
		return err
	}
	return r.able(ctx, plan)
}

// known refuses a plan with an action that can't be run.
func (r *Runner) known(plan *Plan) error {
	return refused(plan, func(step *pipeline.Step) string {
		if _, known := r.Actions[step.Action.Value]; known {
			return ""
		}
		return fmt.Sprintf("%s: step %s has the action %s, which Salve does not run; --skip-actions %s leaves such steps out", step.Action.At, step.ID(), step.Action.Value, step.Action.Value)
	})
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
		return usage("%s", strings.Join(problems, "; "))
	}
	return nil
}

func usage(format string, arguments ...any) error {
	return &engine.InvalidError{Reason: fmt.Sprintf(format, arguments...)}
}

func (r *Runner) header(plan *Plan, run string, options Options) (journal.Header, error) {
	inputs, err := json.Marshal(plan.Inputs)
	if err != nil {
		return journal.Header{}, fmt.Errorf("encoding the inputs of the run: %w", err)
	}
	return journal.Header{
		Schema: 1, Run: run, Runbook: Name, Version: version, Target: plan.Target(), Posture: runbook.FailClosed,
		Inputs: inputs, Overrides: options.overrides(), Holder: r.holder(run),
	}, nil
}

func (r *Runner) holder(run string) journal.Holder {
	holder := r.Holder
	holder.Run, holder.Since = run, r.Clock.Now().UTC()
	return holder
}

func (r *Runner) newRun() string {
	now := r.Clock.Now().UTC()
	if r.NewRun != nil {
		return r.NewRun(now)
	}
	tail := make([]byte, 3)
	_, _ = rand.Read(tail) // never fails, by its documentation
	return now.Format("20060102-150405-") + hex.EncodeToString(tail)
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
