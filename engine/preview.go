package engine

import (
	"context"
	"errors"
	"fmt"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// Check asks the guards and changes nothing: no lease, no journal. The result's
// outcome is empty when a run would go on to act.
func (e *Engine) Check(ctx context.Context, book runbook.Runbook, options Options) (Result, error) {
	return e.preview(ctx, book, options, false)
}

// Plan asks the guards and makes the plan, and changes nothing. The plan is nil
// when a run would not act.
func (e *Engine) Plan(ctx context.Context, book runbook.Runbook, options Options) (Result, error) {
	return e.preview(ctx, book, options, true)
}

func (e *Engine) preview(ctx context.Context, book runbook.Runbook, options Options, withPlan bool) (Result, error) {
	if err := e.validate(book, options); err != nil {
		return Result{}, err
	}
	limited, cancel := clock.WithTimeout(ctx, e.Clock, book.Budget)
	defer cancel()
	peeked, err := e.Journal.Peek(ctx, book.Target.ID)
	if err != nil {
		return Result{}, err
	}
	found, _, err := e.openRun(ctx, book, peeked.Open)
	if err != nil {
		return Result{}, err
	}
	open, err := e.continued(book, found, options)
	if err != nil {
		return Result{}, err
	}
	x, err := e.previewOf(limited, book, options, open)
	if err != nil {
		return Result{}, err
	}
	verdict, err := x.preview(limited, withPlan)
	if err != nil {
		return Result{}, err
	}
	switch {
	case open != nil:
		x.warnings = append(x.warnings, fmt.Sprintf("run %s is open on this target: a run would go on with it", open.Run))
	case found != nil && (verdict.Outcome == "" || options.Plan == nil):
		x.warnings = append(x.warnings, fmt.Sprintf("run %s is open on this target, with other inputs or content: "+
			"a run would close it", found.Run))
	}
	result := x.result(verdict)
	result.Run, result.Open = "", false
	return result, nil
}

// continued is the open run that a run would go on with; nil where it would be closed in favour of another one.
func (e *Engine) continued(book runbook.Runbook, open *journal.Record, options Options) (*journal.Record, error) {
	if open == nil {
		return nil, nil
	}
	asked, err := e.header(book, open.Run, options)
	switch {
	case err != nil:
		return nil, err
	case options.Supersede == nil || options.same(open.Header, asked) == nil:
		return open, options.checkInputs(open, asked)
	}
	return nil, options.Supersede(open.History)
}

// previewOf is an execution whose record is kept nowhere. It goes on from the
// open run, if there is one.
func (e *Engine) previewOf(ctx context.Context, book runbook.Runbook, options Options,
	open *journal.Record) (*execution, error) {
	if open != nil {
		record, err := open.Clone(ctx, e.Clock.Now)
		return e.newExecution(book, record, leases{}, options), err
	}
	header, err := e.header(book, "preview", options)
	if err != nil {
		return nil, err
	}
	record, err := journal.Create(ctx, journal.NewMemory(), journal.NoLease(0), e.Clock.Now, header)
	return e.newExecution(book, record, leases{}, options), err
}

// preview asks what a run would ask before its next change. What is decided on the way is the verdict.
func (x *execution) preview(ctx context.Context, withPlan bool) (journal.Verdict, error) {
	ask := x.previewStart
	if x.began() {
		ask = x.previewRest
	}
	verdict, err := ask(ctx, withPlan)
	var stops *decided
	if errors.As(err, &stops) {
		return stops.verdict, nil
	}
	return verdict, err
}

// previewRest looks ahead from the middle of an open run. One that is being rolled
// back would go on with that, and ask nothing.
func (x *execution) previewRest(ctx context.Context, withPlan bool) (journal.Verdict, error) {
	x.log.record.Plan = nil
	if x.log.record.RollingBack != nil {
		return journal.Verdict{}, nil
	}
	steps, err := x.remaining(ctx)
	if err != nil {
		return journal.Verdict{}, err
	}
	guards := unprepared(x.onResume())
	if len(steps) > 0 && !x.log.step(steps[0].Name).Unsettled() {
		guards = append(guards, x.guardsOf(steps[0])...)
	}
	findings, verdict, err := x.askAll(ctx, guards)
	x.findings = findings
	if err != nil || verdict.Outcome != "" || !withPlan {
		return verdict, err
	}
	return verdict, x.planned(ctx, steps, findings)
}

// planned makes the plan of the steps that are left, on the guards' findings. One that a run would refuse, because
// another was agreed to, is an error.
func (x *execution) planned(ctx context.Context, steps []runbook.Step, findings []runbook.Finding) error {
	if len(steps) == 0 {
		return nil
	}
	plan, err := x.plan(ctx, steps, findings)
	if err != nil {
		return err
	}
	x.log.record.Plan = &plan
	if !x.conditional() {
		return nil
	}
	return x.asExpected(plan)
}

func (x *execution) previewStart(ctx context.Context, withPlan bool) (journal.Verdict, error) {
	var steps []runbook.Step
	var findingsBefore []runbook.Finding
	for _, step := range x.book.Preflight {
		findings, verdict, err := x.askAll(ctx, step.Preconditions)
		findingsBefore = append(findingsBefore, findings...)
		x.findings = findingsBefore
		if err != nil || verdict.Outcome != "" {
			return verdict, err
		}
		seen, err := x.observe(ctx, step)
		if err != nil {
			return journal.Verdict{}, err
		}
		if seen.State != runbook.StateDone {
			steps = append(steps, step)
		}
	}
	findings, verdict, err := x.askAll(ctx, unprepared(x.book.Guards))
	x.findings = append(findings, findingsBefore...)
	if err != nil || !withPlan {
		return verdict, err
	}
	if verdict.Outcome == "" {
		needs, err := x.firstNeeds(ctx)
		if err != nil || needs.Outcome != "" {
			return needs, err
		}
		steps = append(steps, x.book.Steps...)
	}
	return verdict, x.planned(ctx, steps, findings)
}

// firstNeeds asks the conditions of the first step: they are about now, while
// those of later steps are about a world that isn't there yet.
func (x *execution) firstNeeds(ctx context.Context) (journal.Verdict, error) {
	findings, verdict, err := x.askAll(ctx, x.book.Steps[0].Preconditions)
	x.findings = append(x.findings, findings...)
	return verdict, err
}

// askAll asks guards in order and decides.
func (x *execution) askAll(ctx context.Context, guards []runbook.Guard) ([]runbook.Finding, journal.Verdict, error) {
	var findings []runbook.Finding
	for _, guard := range guards {
		began := x.engine.Clock.Now()
		finding, err := x.ask(ctx, x.view(""), guard)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return findings, journal.Verdict{}, err
		}
		findings = append(findings, finding)
		x.found("", finding, began)
		if !finding.Passes() {
			break
		}
	}
	return findings, Decide(x.book.Posture, findings), nil
}
