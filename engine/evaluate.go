package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// Freshness is the name of the finding that the engine itself makes when asking the guards took too long.
const Freshness = "freshness"

const (
	// guardPatience bounds one guard's evaluation, retries included. It leaves
	// room for the five minutes that a role assignment may take to spread.
	guardPatience = 6 * time.Minute
	// freshness is how old the evidence may be on which a permit is minted.
	freshness = time.Minute
	// evaluations is how often guards are asked again because asking took too long.
	evaluations = 3
)

// decided says that a finding ended the run.
type decided struct{ verdict journal.Verdict }

func (e *decided) Error() string { return e.verdict.Reason }

// evaluate asks guards in order, stops at the first that does not pass, journals
// findings and decision, and fails with *decided when the run may not go on.
func (x *execution) evaluate(ctx context.Context, purpose string, run view, guards []runbook.Guard) error {
	_, err := x.evaluateAs(ctx, journal.Evaluation{For: purpose, Round: run.Round()}, run, guards)
	return err
}

// evaluateAs is evaluate for an evaluation that says more than what it is for. It gives
// what was found.
func (x *execution) evaluateAs(
	ctx context.Context, evaluation journal.Evaluation, run view, guards []runbook.Guard,
) ([]runbook.Finding, error) {
	purpose := evaluation.For
	for i, guard := range guards {
		began := x.engine.Clock.Now()
		finding, err := x.ask(ctx, run, x.prepared(ctx, run, guard))
		if err != nil {
			return evaluation.Findings, err
		}
		evaluation.Findings = append(evaluation.Findings, finding)
		x.found(purpose, finding, began)
		if !finding.Passes() {
			for _, rest := range guards[i+1:] {
				evaluation.Missing = append(evaluation.Missing, rest.Name)
			}
			break
		}
	}
	x.mu.Lock()
	if purpose == "start" || len(x.findings) == 0 {
		x.findings = evaluation.Findings
	}
	x.mu.Unlock()
	return evaluation.Findings, x.conclude(ctx, evaluation)
}

// conclude journals an evaluation, unless nothing was asked.
func (x *execution) conclude(ctx context.Context, evaluation journal.Evaluation) error {
	if len(evaluation.Findings) == 0 {
		return nil
	}
	evaluation.Decision = Decide(x.book.Posture, evaluation.Findings)
	x.log.read(func(record *journal.Record) { record.Record(&evaluation) })
	if err := x.append(ctx, journal.Evaluated, "", evaluation); err != nil {
		return err
	}
	if evaluation.Decision.Outcome != "" {
		return &decided{evaluation.Decision}
	}
	return nil
}

// prepared makes what a guard of the run asks about, within a budget of its own: making
// takes longer than asking. Where that does not succeed the guard can't see.
func (x *execution) prepared(ctx context.Context, run view, guard runbook.Guard) runbook.Guard {
	if guard.Prepare == nil || run.step != "" {
		return guard
	}
	limited, cancel := clock.WithTimeout(ctx, x.engine.Clock, guard.PrepareBudget)
	defer cancel()
	err := call(limited, x.engine.Clock, 0, func() error { return guard.Prepare(limited, run) }, itself)
	if err == nil {
		return guard
	}
	if context.Cause(limited) != nil && context.Cause(ctx) == nil {
		err = fmt.Errorf("timed out: not prepared within %s: %w", guard.PrepareBudget, err)
	}
	// What was not made can't be done without, whatever an operator says of the answer.
	guard.Evaluate = func(context.Context, runbook.Run) runbook.Finding {
		finding := unevaluated(err).NotOverridable()
		finding.Reading.Failure.Locked = true
		return finding
	}
	return guard
}

// ask evaluates one guard and adds an operator's override. An interrupted question
// is no finding: the run stops instead of calling the world unknown.
func (x *execution) ask(ctx context.Context, run view, guard runbook.Guard) (runbook.Finding, error) {
	limited, cancel := clock.WithTimeout(ctx, x.engine.Clock, guardPatience)
	defer cancel()
	finding := call(limited, x.engine.Clock, 0, func() runbook.Finding { return guard.Evaluate(limited, run) },
		unevaluated)
	switch finding.Answer {
	case runbook.AnswerHolds, runbook.AnswerDoesNotHold, runbook.AnswerUnknown:
	default:
		finding = runbook.Unknownf("the guard gave no answer (%q)", finding.Answer)
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errBudget), errors.Is(cause, context.DeadlineExceeded):
		// It may say so because it was cut off. An interruption waits for the answer.
		finding = unread(runbook.Unknown(cause), runbook.FailureOf(cause)).WithEvidence(finding.Evidence...)
	case cause == nil && context.Cause(limited) != nil:
		finding = overran(finding)
	}
	finding.Guard, finding.Override = guard.Name, ""
	if cause != nil && finding.Answer == runbook.AnswerUnknown {
		return finding, cause // a preview shows it
	}
	finding.Locked = finding.Locked || guard.NotOverridable
	if reason, found := x.overrides()[guard.Name]; found && !finding.Locked && finding.Answer != runbook.AnswerHolds {
		finding.Override = reason
	}
	return finding, nil
}

// overran is the finding of a guard whose time was over: what it says then, it may say
// because it was cut off.
func overran(said runbook.Finding) runbook.Finding {
	reason := strings.TrimPrefix(said.Reason, "timed out: ")
	finding := runbook.Unknownf("timed out: no answer within %s: %s", guardPatience, reason)
	finding.Locked = said.Locked
	failure := &runbook.Failure{
		Absence: runbook.AbsentTimedOut, Class: apierr.Transient, Reason: finding.Reason, Locked: said.Locked,
	}
	return unread(finding, failure).WithEvidence(said.Evidence...)
}

// unread says of a finding that it rests on no reading, and why there is none.
func unread(finding runbook.Finding, failure *runbook.Failure) runbook.Finding {
	finding.Reading = &runbook.Reading{Failure: failure}
	return finding
}

// unevaluated is the finding of a guard that panicked or did not return.
func unevaluated(err error) runbook.Finding {
	finding := unread(runbook.Unknown(err), runbook.FailureOf(err))
	var panicked *apierr.PanicError
	if errors.As(err, &panicked) {
		stack, _ := json.Marshal(panicked.Stack) // a string always is JSON
		finding = finding.WithEvidence(runbook.Evidence{Source: "stack", Value: stack})
	}
	return finding
}

func (x *execution) overrides() (overrides map[string]string) {
	x.log.read(func(record *journal.Record) { overrides = record.Header.Overrides })
	return overrides
}

// evaluateStep asks everything that a step's permit depends on, afresh, and again
// when the asking took so long that the first answers grew stale.
func (x *execution) evaluateStep(ctx context.Context, step runbook.Step) error {
	guards := x.guardsOf(step)
	run := x.view(step.Name)
	for range evaluations {
		x.nextRound()
		asked := x.engine.Clock.Now()
		if err := x.evaluate(ctx, "step "+step.Name, run, guards); err != nil {
			return err
		}
		if x.engine.Clock.Since(asked) <= freshness {
			return nil
		}
	}
	return x.conclude(ctx, journal.Evaluation{For: "step " + step.Name, Round: run.Round(), Findings: []runbook.Finding{
		named(Freshness, runbook.Unknownf(
			"evidence is stale: asking the guards took more than %s, %d times", freshness, evaluations).NotOverridable()),
	}})
}

func named(guard string, finding runbook.Finding) runbook.Finding {
	finding.Guard = guard
	return finding
}

// GuardsFor are the guards that a runbook asks for an evaluation, in their order; the answer is false for a purpose
// that it does not have, such as a step of an older version.
func GuardsFor(book runbook.Runbook, evaluation journal.Evaluation) ([]runbook.Guard, bool) {
	x := &execution{book: book}
	switch evaluation.For {
	case "start", "resume":
		guards := book.Guards
		if evaluation.For == "resume" {
			guards = x.onResume()
		}
		if evaluation.Proposed {
			guards = unprepared(guards)
		}
		return guards, true
	case "checks":
		return notOverridable(book.Checks), true
	}
	name, isStep := strings.CutPrefix(evaluation.For, "step ")
	for _, step := range slices.Concat(book.Preflight, book.Steps) {
		switch {
		case isStep && step.Name == name && evaluation.Preconditions:
			return notOverridable(step.Preconditions), true
		case isStep && step.Name == name:
			return x.guardsOf(step), true
		case isStep && step.Rollback != nil && step.Rollback.Name == name:
			return x.guardsOf(*step.Rollback), true
		}
	}
	return nil, false
}

// guardsOf are the guards that a step names, which Validate has found in the
// runbook, and its preconditions.
func (x *execution) guardsOf(step runbook.Step) []runbook.Guard {
	guards := make([]runbook.Guard, 0, len(step.Guards)+len(step.Preconditions))
	for _, name := range step.Guards {
		for _, guard := range x.book.Guards {
			if guard.Name == name {
				guards = append(guards, guard)
			}
		}
	}
	return append(guards, notOverridable(step.Preconditions)...)
}

// notOverridable are preconditions and checks: no override passes over them.
func notOverridable(guards []runbook.Guard) []runbook.Guard {
	locked := slices.Clone(guards)
	for i := range locked {
		locked[i].NotOverridable = true
	}
	return locked
}

func encodeJSON(value any) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding as JSON: %w", err)
	}
	return raw, nil
}
