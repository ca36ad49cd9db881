package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

const (
	// guardPatience bounds one guard's evaluation, retries included. It leaves
	// room for the five minutes that a role assignment may take to spread.
	guardPatience = 6 * time.Minute
	// freshness is how old the evidence may be on which a permit is minted.
	freshness = time.Minute
	// looks is how often guards are asked again because asking took too long.
	looks = 3
)

// judgedOut says that a finding ended the run.
type judgedOut struct{ verdict journal.Verdict }

func (e *judgedOut) Error() string { return e.verdict.Reason }

// judge asks guards in order, stops at the first that does not pass, journals
// findings and decision, and fails with *judgedOut when the run may not go on.
func (x *execution) judge(ctx context.Context, purpose string, guards []runbook.Guard) error {
	judgement := journal.Evaluation{For: purpose, Round: x.round}
	for i, guard := range guards {
		finding, err := x.ask(ctx, guard)
		if err != nil {
			return err
		}
		judgement.Findings = append(judgement.Findings, finding)
		x.tell(Event{Kind: Found, Step: purpose, Finding: &finding})
		if !finding.Passes() {
			for _, rest := range guards[i+1:] {
				judgement.Missing = append(judgement.Missing, rest.Name)
			}
			break
		}
	}
	if purpose == "start" || len(x.findings) == 0 {
		x.findings = judgement.Findings
	}
	return x.conclude(ctx, judgement)
}

// conclude journals a judgement, unless nothing was asked.
func (x *execution) conclude(ctx context.Context, judgement journal.Evaluation) error {
	if len(judgement.Findings) == 0 {
		return nil
	}
	judgement.Decision = Decide(x.book.Posture, judgement.Findings)
	if err := x.append(ctx, journal.Evaluated, "", judgement); err != nil {
		return err
	}
	if judgement.Decision.Outcome != "" {
		return &judgedOut{judgement.Decision}
	}
	return nil
}

// ask evaluates one guard and adds a person's override. An interrupted question
// is no finding: the run stops instead of calling the world unknown.
func (x *execution) ask(ctx context.Context, guard runbook.Guard) (runbook.Finding, error) {
	limited, cancel := clock.WithTimeout(ctx, x.engine.Clock, guardPatience)
	defer cancel()
	finding := guard.Evaluate(limited, x)
	if cause := context.Cause(ctx); cause != nil && finding.Answer == runbook.AnswerUnknown {
		return finding, cause
	}
	finding.Guard = guard.Name
	finding.Locked = finding.Locked || guard.NotOverridable
	if reason, found := x.record.Header.Overrides[guard.Name]; found && !finding.Locked && finding.Answer != runbook.AnswerHolds {
		finding.Override = reason
	}
	return finding, nil
}

// judgeStep asks everything that a step's permit depends on, afresh, and again
// when the asking took so long that the first answers grew stale.
func (x *execution) judgeStep(ctx context.Context, step runbook.Step) error {
	guards, err := x.guardsOf(step)
	if err != nil {
		return err
	}
	for range looks {
		x.round++
		asked := x.engine.Clock.Now()
		if err := x.judge(ctx, "step "+step.Name, guards); err != nil {
			return err
		}
		if x.engine.Clock.Since(asked) <= freshness {
			return nil
		}
	}
	return x.conclude(ctx, journal.Evaluation{For: "step " + step.Name, Round: x.round, Findings: []runbook.Finding{{
		Guard: "freshness", Answer: runbook.AnswerUnknown, Locked: true,
		Reason: fmt.Sprintf("asking the guards took more than %s, %d times: what they saw is stale", freshness, looks),
	}}})
}

func (x *execution) guardsOf(step runbook.Step) ([]runbook.Guard, error) {
	var guards []runbook.Guard
	for _, name := range step.Guards {
		for _, guard := range x.book.Guards {
			if guard.Name == name {
				guards = append(guards, guard)
			}
		}
	}
	for _, need := range step.Preconditions {
		need.NotOverridable = true
		guards = append(guards, need)
	}
	if len(guards) < len(step.Guards) {
		return nil, errors.New("a step names a guard that the runbook lacks")
	}
	return guards, nil
}

func encodeJSON(value any) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding as JSON: %w", err)
	}
	return raw, nil
}
