package entrypoint

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// Runner hands entrypoints to the engine as graphs of service groups.
type Runner struct {
	Journal journal.Store
	Clock   clock.Clock
	// Holder is written into leases and records.
	Holder journal.Holder
	// Program and Command are for the record, as those of engine.Engine.
	Program, Command string
	// Watch is told what happens in the entrypoint's own run. May be nil.
	Watch func(engine.Event)
	// Appended is as that of engine.Engine; may be nil.
	Appended func(entries int, took time.Duration, err error)
	// Approvals is where it is looked for the approval of the whole; nil where it waits for none.
	Approvals engine.Approvals
	// Detailed: the plan has the content and the steps of each pipeline, for somebody to agree to.
	Detailed bool
	// NewRun names a new run, of the entrypoint and of a pipeline; nil means by time and chance.
	NewRun func(now time.Time) string
	// Pipeline makes what runs the pipeline of a service group. Its NewRun is not used.
	Pipeline func(Group) *rollout.Runner
	// Retry repeats a call while another runner is at work on its target. Nil means that it is made once.
	Retry func(ctx context.Context, call func() (engine.Result, error)) (engine.Result, error)
}

// Options are what an operator may add to a run.
type Options struct {
	// AllowOlder is the reason for rolling out older revisions than were rolled out before; empty is no permission.
	AllowOlder string
	// Approval makes the whole wait until its plan is approved, before any service group begins: the approval covers the
	// runs of the pipelines. One of them that is resumed by itself waits for its own.
	Approval *journal.ApprovalRule
	// Plan is as that of engine.Options: it is one of the whole.
	Plan *engine.ExpectedPlan
}

// Run rolls a plan out. The open run of the same plan is resumed instead; one of another content is closed. The errors
// are those of engine.Run.
func (r *Runner) Run(ctx context.Context, plan *Plan, options Options) (engine.Result, error) {
	if err := r.Check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	return r.engine().Run(ctx, r.book(plan, options), r.options(plan, options))
}

// Plan makes the plan that a run would execute, and changes nothing. The result has none where a run would be refused,
// and says why.
func (r *Runner) Plan(ctx context.Context, plan *Plan, options Options) (engine.Result, error) {
	if err := r.Check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	return r.engine().Plan(ctx, r.book(plan, options), r.options(plan, options))
}

// Resume goes on with an open run of the plan.
func (r *Runner) Resume(ctx context.Context, plan *Plan, run string, options Options) (engine.Result, error) {
	if err := r.Check(ctx, plan); err != nil {
		return engine.Result{}, err
	}
	return r.engine().Resume(ctx, r.book(plan, options), run, r.options(plan, options))
}

func (r *Runner) engine() *engine.Engine {
	return &engine.Engine{
		Journal: r.Journal, Clock: r.Clock, Holder: r.Holder, Watch: r.Watch, NewRun: r.NewRun, Appended: r.Appended,
		Program: r.Program, Command: r.Command, Approvals: r.Approvals,
	}
}

func (r *Runner) options(plan *Plan, options Options) engine.Options {
	return engine.Options{
		Approval:  options.Approval,
		Plan:      options.Plan,
		SameRun:   plan.same,
		Supersede: func(open *journal.History) error { return r.supersede(plan, open) },
	}
}

// Check finds, before anything is locked, what would keep the steps of any pipeline from being run: all of it.
func (r *Runner) Check(ctx context.Context, plan *Plan) error {
	all := &rollout.NoProgramError{}
	var reasons []string
	for _, group := range plan.Groups {
		err := r.Pipeline(group).Check(ctx, group.Plan)
		var lacking *rollout.NoProgramError
		var wrong *engine.InvalidError
		switch {
		case err == nil:
		case errors.As(err, &lacking):
			all.Steps = append(all.Steps, lacking.Steps...)
		case errors.As(err, &wrong):
			reasons = append(reasons, wrong.Reason)
		default:
			return err
		}
	}
	if len(all.Steps) > 0 {
		reasons = append(reasons, all.Error()) // at the end, where its hint is seen
	}
	if len(reasons) > 0 {
		return invalid("%s", strings.Join(reasons, "; "))
	}
	return nil
}

// supersede tells whether an open run of another content may be closed. The runs of its pipelines are closed or resumed
// when their service group's turn comes; one whose turn does not come any more would be forgotten.
func (r *Runner) supersede(plan *Plan, open *journal.History) error {
	if open.Header.Runbook != Name {
		return invalid("run %s of %s is open on this target: resume or abandon it first", open.Header.Run,
			open.Header.Runbook)
	}
	for _, step := range open.Steps() {
		here := slices.ContainsFunc(plan.Groups, func(group Group) bool { return group.Name == step.Name })
		child, err := RunOf(open, step.Name)
		if err != nil || child == "" || here || step.Finished() {
			continue // its run can't be looked for, or needn't be
		}
		return invalid("run %s is open on this target, and its service group %s is not rolled out any more. hint: "+
			"salve resume %s, or salve runs abandon %s and %s", open.Header.Run, step.Name, child, child, open.Header.Run)
	}
	return nil
}

// newRun names the run of a pipeline.
func (r *Runner) newRun() string {
	now := r.Clock.Now().UTC()
	if r.NewRun != nil {
		return r.NewRun(now)
	}
	tail := make([]byte, 3)
	_, _ = rand.Read(tail) // never fails, by its documentation
	return now.Format("20060102-150405-") + hex.EncodeToString(tail)
}

func invalid(format string, arguments ...any) error {
	return &engine.InvalidError{Reason: fmt.Sprintf(format, arguments...)}
}
