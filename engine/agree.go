package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// ExpectedPlan is a plan that somebody has looked at: the run executes it, or nothing.
type ExpectedPlan struct {
	Digest string
	// Plan is the whole of it, where it is known: then it is said what has changed.
	Plan *runbook.Plan
	// StepsOnly: it is enough that the steps and what they are made with are the same. Evidence may have moved, as long
	// as the guards hold.
	StepsOnly bool
}

// of refuses a plan that was made for another target.
func (p *ExpectedPlan) of(target runbook.Target) error {
	if p == nil || p.Plan == nil || p.Plan.Target == target {
		return nil
	}
	return &InvalidError{fmt.Sprintf("the plan is for %s %s, and this is %s %s",
		p.Plan.Target.Kind, p.Plan.Target.Name, target.Kind, target.Name)}
}

// checkPlan refuses to finish a run with another plan than is asked for: past its point of no return it goes on with
// its own, whatever was agreed to since.
func (o Options) checkPlan(record *journal.Record) error {
	if o.Plan == nil || o.Plan.StepsOnly || !record.PastReturn() || record.Header.Plan == o.Plan.Digest {
		return nil
	}
	return &InvalidError{fmt.Sprintf("run %s is open on this target, past its point of no return, and was not started "+
		"with this plan. hint: salve resume %[1]s finishes it", record.Run)}
}

// agreement is a plan that was agreed to, before this process changed anything.
type agreement struct {
	plan runbook.Plan
	// tidies: steps of the preflight are in it, after which the world is another.
	tidies bool
	// unprepared: guards are left to be asked for which something is made first.
	unprepared bool
	// approval is that of the plan; its statement is the zero one where nobody had to approve.
	approval approved
}

// mostAskings bounds how often a run asks anew because the world moved while it waited.
const mostAskings = 20

// conditional tells whether the run may only execute a plan that was agreed to. After the
// point of no return nothing is asked any more: to finish is what leaves least broken.
func (x *execution) conditional() bool {
	bound := false
	x.log.read(func(record *journal.Record) { bound = record.Header.Plan != "" })
	return (bound || x.options.Plan != nil || x.rule() != nil) && !x.pastReturn()
}

// rule says who has to approve the run's plan; nil where nobody has to.
func (x *execution) rule() (rule *journal.ApprovalRule) {
	if x.options.covered() {
		return nil
	}
	x.log.read(func(record *journal.Record) { rule = record.Header.Approval })
	if rule == nil {
		rule = x.options.Approval
	}
	return rule
}

// agree makes the plan of what is left to do and has it agreed to, before this process
// changes anything: each process of a run for itself.
func (x *execution) agree(ctx context.Context) error {
	if !x.conditional() {
		return nil
	}
	rule := x.rule()
	proposal, err := x.propose(ctx)
	if err != nil {
		return err
	}
	if err := x.asExpected(proposal.plan); err != nil {
		return err
	}
	for range mostAskings {
		if rule == nil || len(proposal.plan.Steps) == 0 {
			x.agreed = &proposal
			return nil
		}
		answer, err := x.awaitApproval(ctx, *rule, proposal.plan)
		if err != nil {
			return err
		}
		again, err := x.propose(ctx)
		if err != nil {
			return err
		}
		if again.plan.Digest == proposal.plan.Digest {
			return x.useApproval(ctx, again, answer)
		}
		if err := x.asExpected(again.plan); err != nil {
			return err
		}
		if err := x.warn(ctx, "", "approval void: the plan has changed while it was waited: "+
			inWordsOf(runbook.Differences(proposal.plan, again.plan))); err != nil {
			return err
		}
		proposal = again
	}
	return &decided{journal.Verdict{Outcome: runbook.Undecided, Reason: fmt.Sprintf(
		"the plan changed while its approval was waited for, %d times", mostAskings)}}
}

// useApproval journals that an approval is used, and agrees. Where it lowers limits, the
// guards are asked once more with those.
func (x *execution) useApproval(ctx context.Context, proposal agreement, answer approved) error {
	if answer.expired(x.engine.Clock.Now()) {
		return expired(answer.statement)
	}
	book, used := x.book, journal.Approval{Statement: answer.statement}
	if len(answer.statement.Limits) > 0 {
		var err error
		if book, err = x.lowered(ctx, answer.statement.Limits); err != nil {
			return err
		}
		if used.Inputs, err = encodeJSON(book.Inputs); err != nil {
			return err
		}
	}
	if err := x.append(ctx, journal.Approved, "", used); err != nil {
		return err
	}
	x.emit(Event{Kind: ApprovalUsed, Text: fmt.Sprintf("by %s", answer.statement.By)})
	if len(used.Inputs) > 0 {
		x.book = book
		narrow, err := x.propose(ctx)
		if err != nil {
			return err
		}
		if err := within(proposal.plan, narrow.plan); err != nil {
			return changed(err.Error())
		}
		proposal = narrow
	}
	proposal.approval = answer
	x.agreed = &proposal
	return nil
}

// lowered is the runbook with lower limits.
func (x *execution) lowered(ctx context.Context, limits map[string]int) (runbook.Runbook, error) {
	book, err := try(ctx, x.engine.Clock, 0, func() (runbook.Runbook, error) { return x.book.Lowered(limits) })
	if err == nil {
		err = book.Validate()
	}
	if err == nil && (book.Name != x.book.Name || book.Version != x.book.Version || book.Target != x.book.Target ||
		!slices.Equal(book.Locks, x.book.Locks)) {
		err = fmt.Errorf("the limits make it %s (version %s) on %s", book.Name, book.Version, book.Target.ID)
	}
	if err != nil {
		return book, &decided{journal.Verdict{Outcome: runbook.Failed, Reason: fmt.Sprintf(
			"the approval narrows to what is invalid: %v", err)}}
	}
	return book, nil
}

// within tells which step of a plan is not one of another.
func within(outer, inner runbook.Plan) error {
	for _, step := range inner.Steps {
		i := slices.IndexFunc(outer.Steps, func(other runbook.PlannedStep) bool { return other.Name == step.Name })
		if i < 0 {
			return fmt.Errorf("narrowed, the plan has a step more: %s", step.Name)
		}
		if step.Irreversible != outer.Steps[i].Irreversible {
			return fmt.Errorf("narrowed, step %s is another", step.Name)
		}
	}
	return nil
}

func expired(statement journal.Statement) error {
	return &decided{journal.Verdict{Outcome: runbook.Failed, Reason: fmt.Sprintf(
		"approval expired: that of %s was good for %s", statement.By, statement.Lasts())}}
}

// propose asks the guards and makes the plan of what is left, as a preview does, and
// journals both. It changes nothing.
func (x *execution) propose(ctx context.Context) (agreement, error) {
	limited, cancel := clock.WithTimeoutCause(ctx, x.engine.Clock, x.book.Budget, errBudget)
	defer cancel()
	x.nextRound()
	ask := x.proposeStart
	if x.began() {
		ask = x.proposeRest
	}
	made, err := ask(limited)
	if err != nil {
		return agreement{}, err
	}
	plan, err := x.plan(limited, made.steps, made.findings)
	if err != nil {
		return agreement{}, err
	}
	if err := x.append(ctx, journal.Planned, "", plan); err != nil {
		return agreement{}, err
	}
	x.emit(Event{Kind: PlanMade, Plan: &plan})
	return agreement{plan: plan, tidies: made.tidies, unprepared: made.unprepared}, nil
}

// asExpected refuses a plan that is not the one that the run was started with, field by field.
func (x *execution) asExpected(plan runbook.Plan) error {
	var want *ExpectedPlan
	x.log.read(func(record *journal.Record) { want = x.options.bound(record.History) })
	if want == nil || plan.Digest == want.Digest {
		return nil
	}
	if want.Plan == nil {
		return changed(fmt.Sprintf("the plan has changed: its digest was %s, now %s. "+
			"hint: --plan FILE says what has changed", want.Digest, plan.Digest))
	}
	if want.StepsOnly || x.began() || x.tidied(*want.Plan) {
		if other := runbook.StepDifferences(x.left(want.Plan.Steps), plan.Steps); len(other) > 0 {
			return changed("the plan has changed: " + inWordsOf(other))
		}
		return nil
	}
	return changed("the plan has changed: " + inWordsOf(runbook.Differences(*want.Plan, plan)))
}

// boundTo is the plan that a run was bound to when it was started. The whole of it is in the record, if it was made.
func boundTo(history *journal.History) *ExpectedPlan {
	if history.Header.Plan == "" {
		return nil
	}
	bound := &ExpectedPlan{Digest: history.Header.Plan}
	for _, entry := range history.Entries {
		var plan runbook.Plan
		if entry.Kind == journal.Planned && json.Unmarshal(entry.Data, &plan) == nil && plan.Digest == bound.Digest {
			bound.Plan = &plan
		}
	}
	return bound
}

// tidied tells whether a step of the preflight that is in a plan was made.
func (x *execution) tidied(plan runbook.Plan) bool {
	return len(x.left(plan.Steps)) < len(plan.Steps)
}

// left are the steps of a plan that are not done.
func (x *execution) left(steps []runbook.PlannedStep) []runbook.PlannedStep {
	return slices.DeleteFunc(slices.Clone(steps), func(step runbook.PlannedStep) bool {
		return x.log.step(step.Name).Finished()
	})
}

func changed(reason string) error {
	return &decided{journal.Verdict{Outcome: runbook.Failed, Reason: reason}}
}

// mostDifferences bounds a sentence.
const mostDifferences = 8

func inWordsOf(differences []runbook.Difference) string {
	var all []string
	for _, difference := range differences[:min(len(differences), mostDifferences)] {
		all = append(all, difference.String())
	}
	if more := len(differences) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

// asAgreed refuses a plan that was made after the preflight and has other steps than were
// agreed to.
func (x *execution) asAgreed(plan runbook.Plan) error {
	if x.agreed == nil {
		return nil
	}
	if other := runbook.StepDifferences(x.left(x.agreed.plan.Steps), plan.Steps); len(other) > 0 {
		return changed("after the preflight the plan is another than was agreed to: " + inWordsOf(other))
	}
	return nil
}

// withinAgreement refuses a change that was not agreed to, right before it is announced:
// the approval has expired, or the change would be made with other inputs than the plan
// says. What the plan left empty an earlier step fills.
func (p *performance) withinAgreement(inputs json.RawMessage) error {
	if p.agreed == nil || p.pastReturn() {
		return nil
	}
	i := slices.IndexFunc(p.agreed.plan.Steps, func(step runbook.PlannedStep) bool { return step.Name == p.step.Name })
	if i < 0 {
		forward := slices.Concat(p.book.Preflight, p.book.Steps)
		if slices.ContainsFunc(forward, func(step runbook.Step) bool { return step.Name == p.step.Name }) {
			return changed(fmt.Sprintf("step %s is not in the plan that was agreed to", p.step.Name))
		}
		return nil // a rollback: it may always take back
	}
	if statement := p.agreed.approval.statement; statement.ID != "" &&
		p.agreed.approval.expired(p.engine.Clock.Now()) {
		return expired(statement)
	}
	if p.amended {
		return nil // inputs that the step itself says it tries next
	}
	planned := p.agreed.plan.Steps[i].Inputs
	if runbook.Unplanned(planned, inputs) {
		return changed(fmt.Sprintf("step %s is not as planned: %s", p.step.Name, inWordsOf(runbook.StepDifferences(
			[]runbook.PlannedStep{{Name: p.step.Name, Inputs: planned}},
			[]runbook.PlannedStep{{Name: p.step.Name, Inputs: inputs}}))))
	}
	return nil
}
