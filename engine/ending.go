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
	// undoBudget bounds the clean-up of a run whose own context has ended.
	undoBudget = 20 * time.Minute
	// checkRounds is how often the final checks are asked before it is said that
	// they don't hold: what was changed may take a moment to be seen.
	checkRounds = 4
)

// ending is how a run stops, before the journal holds it.
type ending struct {
	verdict journal.Verdict
	// undo: take back what was done, then close with the verdict.
	undo bool
	// open: the run is not closed, because it can go on later.
	open bool
	// interrupted: it was asked to stop.
	interrupted bool
	// fenced: the target is another runner's; nothing may be written.
	fenced bool
}

// endingOf turns the error that stopped the walk into an ending.
func (x *execution) endingOf(ctx context.Context, err error) (ending, error) {
	var judged *judgedOut
	var question *undecidable
	var record *journalError
	verdict := journal.Verdict{Outcome: runbook.Failed, Reason: err.Error()}
	switch {
	case errors.As(err, &record):
		return ending{}, err
	case errors.Is(err, errLeaseLost):
		verdict.Outcome = runbook.NeedsAttention
		return ending{verdict: verdict, fenced: true}, nil
	case errors.Is(context.Cause(ctx), ErrInterrupted), errors.Is(context.Cause(ctx), context.Canceled):
		// The run's own cause, not the error: a call that a step's budget cut off
		// looks like a cancellation too.
		return x.interruption(), nil
	case errors.As(err, &question):
		return x.parking(question), nil
	case errors.As(err, &judged):
		verdict = judged.verdict
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		verdict.Reason = fmt.Sprintf("the time budget of %s is over", x.book.Budget)
	}
	if x.record.PastReturn() {
		return ending{verdict: x.pastReturn(verdict), open: true}, nil
	}
	return ending{verdict: verdict, undo: len(x.undoable()) > 0}, nil
}

// undoable are the steps whose changes were announced and can be taken back,
// newest first.
func (x *execution) undoable() []runbook.Step {
	var steps []runbook.Step
	for _, step := range slices.Backward(x.book.Steps) {
		if step.Rollback != nil && x.record.Step(step.Name).Attempts > 0 && !x.record.Step(step.Rollback.Name).Finished() {
			steps = append(steps, step)
		}
	}
	return steps
}

func (x *execution) interruption() ending {
	if !x.record.Changed() {
		verdict := journal.Verdict{Outcome: runbook.Failed, Reason: "interrupted before anything was changed"}
		return ending{verdict: verdict, interrupted: true}
	}
	reason := "interrupted; the run is open and can go on from where it is"
	return ending{verdict: journal.Verdict{Outcome: runbook.NeedsAttention, Reason: reason}, interrupted: true, open: true}
}

func (x *execution) parking(question *undecidable) ending {
	if !x.record.Changed() {
		return ending{verdict: journal.Verdict{Outcome: runbook.Undecided, Reason: question.Error()}}
	}
	return ending{open: true, verdict: journal.Verdict{
		Outcome: runbook.NeedsAttention, Reason: question.Error(), Question: question.seen.Question,
	}}
}

// pastReturn words the verdict of a run that can neither go on nor go back.
func (x *execution) pastReturn(verdict journal.Verdict) journal.Verdict {
	verdict.Outcome = runbook.NeedsAttention
	verdict.Reason = fmt.Sprintf("stopped after the point of no return: %s", verdict.Reason)
	if x.book.Remaining != nil {
		left := x.book.Remaining(func(step string) bool { return x.record.Step(step).Finished() })
		verdict.Reason = strings.TrimSuffix(verdict.Reason+"; "+left, "; ")
	}
	if verdict.Question == "" {
		verdict.Question = "Is what stopped it mended? Then resume the run."
	}
	return verdict
}

// check asks the final checks of freshly observed state.
func (x *execution) check(ctx context.Context) (ending, error) {
	x.tell(Event{Kind: ChecksBegan})
	var missed journal.Verdict
	for n := 1; n <= checkRounds; n++ {
		x.round++
		judgement, err := x.askChecks(ctx)
		if err != nil {
			return x.endingOf(ctx, err)
		}
		if judgement.Decision.Outcome == "" {
			return ending{verdict: journal.Verdict{Outcome: runbook.Remediated, Reason: "all final checks hold"}}, nil
		}
		missed = judgement.Decision
		if n == checkRounds {
			break
		}
		if err := clock.Sleep(ctx, x.engine.Clock, refusals.Pause(n, 0)); err != nil {
			return x.endingOf(ctx, err)
		}
	}
	return ending{open: true, verdict: journal.Verdict{
		Outcome: runbook.NeedsAttention, Reason: "a final check failed: " + missed.Reason,
		Question: "Is what the check found as it should be? If not, mend it; then resume the run, which checks again.",
	}}, nil
}

func (x *execution) askChecks(ctx context.Context) (journal.Evaluation, error) {
	judgement := journal.Evaluation{For: "checks", Round: x.round}
	for _, guard := range x.book.Checks {
		guard.NotOverridable = true
		finding, err := x.ask(ctx, guard)
		if err != nil {
			return judgement, err
		}
		judgement.Findings = append(judgement.Findings, finding)
		x.tell(Event{Kind: Found, Step: "checks", Finding: &finding})
	}
	judgement.Decision = Decide(runbook.FailClosed, judgement.Findings)
	return judgement, x.append(ctx, journal.Evaluated, "", judgement)
}

// end writes the ending down, after the undo if there is one. It works on a
// fresh, bounded context: the run's own may have ended.
func (x *execution) end(ctx context.Context, end ending) (journal.Verdict, error) {
	fresh, cancel := clock.WithTimeout(context.WithoutCancel(ctx), x.engine.Clock, undoBudget)
	defer cancel()
	if end.fenced {
		return end.verdict, nil
	}
	if end.undo {
		undone, err := x.undo(fresh, end.verdict)
		if err != nil {
			return undone.verdict, err
		}
		end = undone
	}
	if end.interrupted {
		if err := x.append(fresh, journal.Interrupted, "", journal.Message{Text: end.verdict.Reason}); err != nil {
			return end.verdict, err
		}
	}
	kind := journal.Closed
	if end.open {
		kind = journal.Parked
	}
	return end.verdict, x.append(fresh, kind, "", end.verdict)
}

// undo takes back, newest first, what the run's steps announced. What can't be
// taken back parks the run.
func (x *execution) undo(ctx context.Context, verdict journal.Verdict) (ending, error) {
	if x.record.RollingBack == nil {
		if err := x.append(ctx, journal.RollingBack, "", verdict); err != nil {
			return ending{}, err
		}
	}
	x.tell(Event{Kind: RollbackBegan, Text: verdict.Reason})
	for _, step := range x.undoable() {
		if err := x.perform(ctx, *step.Rollback); err != nil {
			return x.undoFailed(step, verdict, err)
		}
	}
	return ending{verdict: verdict}, nil
}

func (x *execution) undoFailed(step runbook.Step, verdict journal.Verdict, err error) (ending, error) {
	var record *journalError
	if errors.As(err, &record) {
		return ending{}, err
	}
	if errors.Is(err, errLeaseLost) {
		return ending{fenced: true, verdict: journal.Verdict{Outcome: runbook.NeedsAttention, Reason: err.Error()}}, nil
	}
	return ending{open: true, verdict: journal.Verdict{
		Outcome:  runbook.NeedsAttention,
		Reason:   fmt.Sprintf("%s; and what step %q did could not be taken back: %v", verdict.Reason, step.Name, err),
		Question: "Is what prevents the clean-up mended? Then resume the run, which finishes the clean-up.",
	}}, nil
}
