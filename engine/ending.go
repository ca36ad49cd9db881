package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

const (
	// rollbackBudget bounds the rollback of a run whose own context has ended.
	rollbackBudget = 20 * time.Minute
	// endBudget bounds the writing of how a run ended.
	endBudget = 5 * time.Minute
	// checkRounds is how often the final checks are asked before it is said that
	// they don't hold: what was changed may take a moment to be seen.
	checkRounds = 4
)

// ending is how a run stops, before the journal holds it.
type ending struct {
	verdict journal.Verdict
	next    next
	// interrupted: the run was asked to stop.
	interrupted bool
}

// next is what becomes of a run that has stopped.
type next int

const (
	// closeRun: the run is over.
	closeRun next = iota
	// rollBackRun: take back what was done, then close with the verdict.
	rollBackRun
	// keepOpen: the run can go on later.
	keepOpen
	// leaveAlone: the target is another runner's; nothing may be written.
	leaveAlone
)

// endingOf turns the error that stopped the steps into an ending.
func (x *execution) endingOf(ctx context.Context, err error) ending {
	// A record that refuses the stack refuses the verdict too, which says so.
	_ = x.keepStack(context.WithoutCancel(ctx), "", err)
	var decision *decided
	verdict := journal.Verdict{Outcome: runbook.Failed, Reason: x.reasonOf(err)}
	switch {
	case errors.Is(err, errLeaseLost):
		verdict.Outcome = runbook.NeedsAttention
		return ending{verdict: verdict, next: leaveAlone}
	case errors.Is(context.Cause(ctx), ErrInterrupted), errors.Is(context.Cause(ctx), context.Canceled):
		// The run's own cause, not the error: a call that a step's budget cut off
		// looks like a cancellation too.
		return x.interruption(ctx)
	}
	if questions := questionsOf(err); len(questions) > 0 {
		return x.parking(questions)
	}
	switch {
	case errors.As(err, &decision):
		verdict = decision.verdict
	case errors.Is(context.Cause(ctx), errBudget):
		verdict.Reason = fmt.Sprintf("timed out: the run's budget of %s is over", x.book.Budget)
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		verdict.Reason = fmt.Sprintf("timed out: the caller's deadline passed, within the run's budget of %s", x.book.Budget)
	}
	switch {
	case x.pastReturn():
		return ending{verdict: x.afterReturn(ctx, verdict), next: keepOpen}
	case x.book.KeepOpen && x.changed():
		return ending{verdict: verdict, next: keepOpen}
	}
	quiet := verdict.Outcome == runbook.NothingToDo || verdict.Outcome == runbook.Deferred ||
		verdict.Outcome == runbook.Undecided
	if lasting := x.lasting(); quiet && len(lasting) > 0 {
		verdict.Outcome = runbook.Failed
		verdict.Reason += "; done, or may have been, and without a rollback: " + some(lasting)
	}
	if len(x.toRollBack()) > 0 {
		return ending{verdict: verdict, next: rollBackRun}
	}
	return ending{verdict: verdict, next: closeRun}
}

// lasting are the steps whose changes were made, or may have been, and that nothing
// takes back.
func (x *execution) lasting() (steps []string) {
	x.log.read(func(record *journal.Record) {
		for _, step := range x.book.Steps {
			history := record.Step(step.Name)
			made := history.Attempts > 0 && (history.Open || !history.Last.Refused) // what was refused did not happen
			if made && step.Rollback == nil && !step.Passive {
				steps = append(steps, step.Name)
			}
		}
	})
	return steps
}

// reasonOf words what stopped the steps. Of several failures it names the steps of
// all and says the first: that may be why the others failed.
func (x *execution) reasonOf(err error) string {
	reason := err.Error()
	var several *failures
	if errors.As(err, &several) {
		reason += "; " + some(several.steps[1:]) + " failed too"
	}
	if x.book.KeepOpen {
		reason += "; " + x.standing()
	}
	return reason
}

// questionsOf are the steps of which only an operator can tell what became of them.
func questionsOf(err error) []*undecidable {
	var several *failures
	all := []error{err}
	if errors.As(err, &several) {
		all = several.all
	}
	var questions []*undecidable
	for _, err := range all {
		var question *undecidable
		if errors.As(err, &question) {
			questions = append(questions, question)
		}
	}
	return questions
}

func (x *execution) changed() (changed bool) {
	x.log.read(func(record *journal.Record) { changed = record.Changed() })
	return changed
}

func (x *execution) pastReturn() (past bool) {
	x.log.read(func(record *journal.Record) { past = record.PastReturn() })
	return past
}

// toRollBack are the steps whose changes were announced and can be taken back, the
// one that began last first.
func (x *execution) toRollBack() []runbook.Step {
	var steps []runbook.Step
	x.log.read(func(record *journal.Record) {
		for _, history := range slices.Backward(record.Steps()) {
			i := slices.IndexFunc(x.book.Steps, func(step runbook.Step) bool { return step.Name == history.Name })
			if i < 0 || history.Attempts == 0 || x.book.Steps[i].Rollback == nil {
				continue
			}
			if step := x.book.Steps[i]; !record.Step(step.Rollback.Name).Finished() {
				steps = append(steps, step)
			}
		}
	})
	return steps
}

func (x *execution) interruption(ctx context.Context) ending {
	if !x.changed() {
		verdict := journal.Verdict{Outcome: runbook.Failed, Reason: "interrupted before anything was changed"}
		return ending{verdict: verdict, next: closeRun, interrupted: true}
	}
	verdict := journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "interrupted; the run is open and can be resumed"}
	if x.book.KeepOpen {
		verdict.Reason = "interrupted; " + x.standing()
		verdict.Question = x.openQuestions(ctx)
	}
	return ending{verdict: verdict, interrupted: true, next: keepOpen}
}

// openQuestions are those about steps that were cut off by the interruption, so that
// they can be answered when the run is resumed.
func (x *execution) openQuestions(ctx context.Context) string {
	fresh, cancel := clock.WithTimeout(context.WithoutCancel(ctx), x.engine.Clock, grace)
	defer cancel()
	var questions []string
	for _, step := range x.book.Steps {
		if !x.log.step(step.Name).Unsettled() {
			continue
		}
		seen, err := x.observe(fresh, step)
		if err == nil && seen.State == runbook.StateUndecidable {
			questions = append(questions, seen.Question)
		}
	}
	return strings.Join(questions, " ")
}

func (x *execution) parking(questions []*undecidable) ending {
	var reasons []string
	for _, question := range questions {
		reasons = append(reasons, question.Error())
	}
	verdict := journal.Verdict{Outcome: runbook.NeedsAttention, Reason: strings.Join(reasons, "; ")}
	if !x.changed() {
		verdict.Outcome = runbook.Undecided
		return ending{verdict: verdict, next: closeRun}
	}
	if x.book.KeepOpen {
		verdict.Reason += "; " + x.standing()
	}
	verdict.Question = wordsOf(questions)
	return ending{next: keepOpen, verdict: verdict}
}

// wordsOf are the questions in one text.
func wordsOf(questions []*undecidable) string {
	var asked []string
	for _, question := range questions {
		if question.seen.Question != "" {
			asked = append(asked, question.seen.Question)
		}
	}
	return strings.Join(asked, " ")
}

// afterReturn words the verdict of a run that can neither go on nor go back.
func (x *execution) afterReturn(ctx context.Context, verdict journal.Verdict) journal.Verdict {
	verdict.Outcome = runbook.NeedsAttention
	verdict.Reason = fmt.Sprintf("stopped after the point of no return: %s", verdict.Reason)
	if x.book.Remaining != nil {
		left := call(ctx, x.engine.Clock, 0, func() string {
			return x.book.Remaining(func(step string) bool { return x.log.step(step).Finished() })
		}, func(err error) string { return fmt.Sprintf("what is left standing is not known: %v", err) })
		verdict.Reason = strings.TrimSuffix(verdict.Reason+"; "+left, "; ")
	}
	if verdict.Question == "" {
		verdict.Question = "Is what stopped it mended? Then resume the run."
	}
	return verdict
}

// check asks the final checks of freshly observed state.
func (x *execution) check(ctx context.Context) ending {
	x.emit(Event{Kind: ChecksBegan})
	var missed journal.Verdict
	for n := 1; n <= checkRounds; n++ {
		x.nextRound()
		evaluation, err := x.askChecks(ctx)
		if err != nil {
			return x.endingOf(ctx, err)
		}
		if evaluation.Decision.Outcome == "" {
			return ending{verdict: x.success(), next: closeRun}
		}
		missed = evaluation.Decision
		if n == checkRounds {
			break
		}
		if err := clock.Sleep(ctx, x.engine.Clock, refusals().Pause(n, 0)); err != nil {
			return x.endingOf(ctx, err)
		}
	}
	return ending{next: keepOpen, verdict: journal.Verdict{
		Outcome: runbook.NeedsAttention, Reason: "a final check failed: " + missed.Reason,
		Question: "Is what the check found as it should be? If not, fix it; then resume the run, which checks again.",
	}}
}

// success is the verdict of a run whose checks all hold. A run that skipped all of its
// steps has done nothing.
func (x *execution) success() journal.Verdict {
	if !slices.ContainsFunc(x.book.Steps, func(step runbook.Step) bool { return step.Skip == "" }) {
		return journal.Verdict{Outcome: runbook.NothingToDo, Reason: "every step was skipped"}
	}
	verdict := journal.Verdict{Outcome: x.book.Success, Reason: "all final checks hold"}
	if verdict.Outcome == "" {
		verdict.Outcome = runbook.Remediated
	}
	if x.book.KeepOpen {
		verdict.Reason = x.standing()
	}
	return verdict
}

func (x *execution) askChecks(ctx context.Context) (journal.Evaluation, error) {
	run := x.view("")
	evaluation := journal.Evaluation{For: "checks", Round: run.Round()}
	for _, check := range notOverridable(x.book.Checks) {
		began := x.engine.Clock.Now()
		finding, err := x.ask(ctx, run, check)
		if err != nil {
			return journal.Evaluation{}, err
		}
		evaluation.Findings = append(evaluation.Findings, finding)
		x.found("checks", finding, began)
	}
	evaluation.Decision = Decide(runbook.FailClosed, evaluation.Findings)
	x.log.read(func(record *journal.Record) { record.Record(&evaluation) })
	if err := x.append(ctx, journal.Evaluated, "", evaluation); err != nil {
		return journal.Evaluation{}, err
	}
	return evaluation, nil
}

// end writes the ending down, after the rollback if there is one. Each has a fresh,
// bounded context: the run's own may have ended, and a rollback that took all of its
// time still has to be recorded.
func (x *execution) end(ctx context.Context, end ending) (journal.Verdict, error) {
	if end.next == rollBackRun {
		end = x.rollBack(ctx, end.verdict)
	}
	if end.next == leaveAlone {
		return end.verdict, nil
	}
	fresh, cancel := clock.WithTimeout(context.WithoutCancel(ctx), x.engine.Clock, endBudget)
	defer cancel()
	last := journal.Pending{Kind: journal.Closed, Data: end.verdict}
	if end.next == keepOpen {
		last.Kind = journal.Parked
	}
	if end.interrupted {
		stop := journal.Pending{Kind: journal.Interrupted, Data: journal.Message{Text: end.verdict.Reason}}
		return end.verdict, x.log.append(fresh, stop, last)
	}
	return end.verdict, x.log.append(fresh, last)
}

// rollBack takes back, newest first, what the run's steps announced. What can't be
// taken back, or can't be announced, parks the run.
func (x *execution) rollBack(ended context.Context, verdict journal.Verdict) ending {
	ctx, cancel := clock.WithTimeout(context.WithoutCancel(ended), x.engine.Clock, rollbackBudget)
	defer cancel()
	announced := false
	x.log.read(func(record *journal.Record) { announced = record.RollingBack != nil })
	if !announced {
		if err := x.append(ctx, journal.RollingBack, "", verdict); err != nil {
			return ending{verdict: verdict, next: keepOpen}
		}
	}
	x.emit(Event{Kind: RollbackBegan, Text: verdict.Reason})
	for _, step := range x.toRollBack() {
		if err := x.perform(ctx, *step.Rollback); err != nil {
			return rollbackFailed(step, verdict, err)
		}
	}
	return ending{verdict: verdict, next: closeRun}
}

func rollbackFailed(step runbook.Step, verdict journal.Verdict, err error) ending {
	if errors.Is(err, errLeaseLost) {
		return ending{next: leaveAlone, verdict: journal.Verdict{Outcome: runbook.NeedsAttention, Reason: err.Error()}}
	}
	parked := journal.Verdict{
		Outcome:  runbook.NeedsAttention,
		Reason:   fmt.Sprintf("%s; and what step %s did could not be rolled back: %v", verdict.Reason, step.Name, err),
		Question: wordsOf(questionsOf(err)),
	}
	if parked.Question == "" {
		parked.Question = "Is what prevents the rollback mended? Then resume the run, which finishes it."
	}
	return ending{next: keepOpen, verdict: parked}
}
