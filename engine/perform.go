package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/internal/permit"
	"salve/journal"
	"salve/runbook"
)

const (
	// permitLasts is the default life of a permit.
	permitLasts = 2 * time.Minute
	// denialPatience is how long a refusal for lack of rights is waited out:
	// role assignments take minutes to spread.
	denialPatience = 5 * time.Minute
	// stepPatience is how long a step is tried, at least, while it is refused for
	// reasons that clear by themselves.
	stepPatience = 20 * time.Minute
)

// refusals is the schedule between attempts at a step. ARM refills the right to
// write agent pools once a minute, so that a faster one would only burn it.
var refusals = backoff.Exponential{First: 5 * time.Second, Longest: time.Minute, Factor: 1.7}

// undecidable says that only a person can tell whether a change happened.
type undecidable struct {
	step string
	seen runbook.Observation
}

func (e *undecidable) Error() string { return fmt.Sprintf("step %q: %s", e.step, e.seen.Reason) }

// perform takes a step to its end: attempts until one is done, one is refused
// for good, or the time is over.
func (x *execution) perform(ctx context.Context, step runbook.Step) error {
	x.step = step.Name
	defer func() { x.step = "" }()
	refused, began := 0, x.engine.Clock.Now()
	var deniedSince time.Time
	for {
		err := x.attempt(ctx, step)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		again, pause, err := x.again(ctx, step, err, &deniedSince)
		if !again || x.engine.Clock.Since(began) > max(step.Budget, stepPatience) {
			return err
		}
		if !pause {
			continue
		}
		refused++
		wait := refusals.Pause(refused, apierr.RetryAfter(err))
		x.tell(Event{Kind: Waiting, Step: step.Name, Text: fmt.Sprintf("%v; looking again in %s", err, wait.Round(time.Second))})
		if err := clock.Sleep(ctx, x.engine.Clock, wait); err != nil {
			return err
		}
	}
}

// final tells errors that end a run whatever their class.
func final(err error) bool {
	var judged *judgedOut
	var question *undecidable
	var record *journalError
	return errors.As(err, &judged) || errors.As(err, &question) || errors.As(err, &record) || errors.Is(err, errLeaseLost)
}

// again decides whether a failed attempt is followed by another one.
func (x *execution) again(ctx context.Context, step runbook.Step, err error, deniedSince *time.Time) (again, pause bool, _ error) {
	if final(err) {
		return false, false, err
	}
	var late *overdue
	if errors.As(err, &late) {
		return false, false, err
	}
	if lost := x.lease.Check(ctx); lost != nil {
		return false, false, fmt.Errorf("%w: %w", errLeaseLost, lost)
	}
	switch apierr.ClassOf(err) {
	case apierr.Conflict, apierr.Transient, apierr.Throttled:
		return true, true, err
	case apierr.Denied:
		now := x.engine.Clock.Now()
		if deniedSince.IsZero() {
			*deniedSince = now
		}
		return now.Sub(*deniedSince) < denialPatience, true, err
	}
	if step.RetryWith == nil {
		return false, false, err
	}
	amended, amendErr := step.RetryWith(ctx, x, err)
	if amendErr != nil {
		return false, false, errors.Join(err, amendErr)
	}
	return amended, false, err
}

// attempt takes a step from wherever it is to done.
func (x *execution) attempt(ctx context.Context, step runbook.Step) error {
	limited, cancel := x.limit(ctx, step.Budget)
	defer cancel()
	state, err := x.begin(limited, step)
	if err != nil || state == runbook.StateDone {
		return err
	}
	return x.await(ctx, limited, step)
}

func (x *execution) limit(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	if budget == 0 {
		return context.WithCancel(ctx)
	}
	return clock.WithTimeout(ctx, x.engine.Clock, budget)
}

// begin makes sure that the change is under way. A change that was announced
// earlier is looked for first: it is never repeated if it happened.
func (x *execution) begin(ctx context.Context, step runbook.Step) (runbook.State, error) {
	history := x.record.Step(step.Name)
	announced := history.Attempts > 0
	if announced {
		x.round++
	} else if err := x.judgeStep(ctx, step); err != nil {
		return "", err
	}
	seen, err := x.observe(ctx, step)
	if err != nil {
		return "", err
	}
	switch seen.State {
	case runbook.StateDone:
		x.tell(Event{Kind: StepBegan, Step: step.Name})
		return runbook.StateDone, x.settle(ctx, step, journal.Result{Result: journal.Done, Observed: true, Reason: seen.Reason})
	case runbook.StateInFlight:
		x.tell(Event{Kind: StepBegan, Step: step.Name, Text: "already under way: " + seen.Reason})
		return runbook.StateInFlight, nil
	case runbook.StateUndecidable:
		return "", &undecidable{step.Name, seen}
	}
	if announced {
		if err := x.notHappened(ctx, step, seen); err != nil {
			return "", err
		}
		if err := x.judgeStep(ctx, step); err != nil {
			return "", err
		}
	}
	return runbook.StateInFlight, x.change(ctx, step)
}

// lateRequest is how long a request whose answer was lost may still be on its
// way: only after that «it did not happen» means that it won't.
const lateRequest = time.Minute

// notHappened closes an attempt whose change is seen not to have happened.
func (x *execution) notHappened(ctx context.Context, step runbook.Step, seen runbook.Observation) error {
	history := x.record.Step(step.Name)
	never := !seen.Partial && x.engine.Clock.Since(history.Intended) > lateRequest
	if !history.Unsettled() && !(history.Crossed() && never) {
		return nil
	}
	return x.settle(ctx, step, journal.Result{
		Result: journal.Failure, Observed: true, Refused: never, Reason: "it did not happen: " + seen.Reason,
	})
}

// change mints the permit, announces the change in the journal, and makes it.
func (x *execution) change(ctx context.Context, step runbook.Step) error {
	if err := x.lease.Check(ctx); err != nil {
		return fmt.Errorf("%w: %w", errLeaseLost, err)
	}
	lasts := step.PermitLasts
	if lasts == 0 {
		lasts = permitLasts
	}
	attempt := x.record.Step(step.Name).Attempts + 1
	granted := permit.Mint(permit.Terms{
		Run: x.record.Run, Target: x.book.Target.ID, Step: step.Name, Attempt: attempt, Epoch: x.lease.Epoch(),
		Expires: x.engine.Clock.Now().Add(lasts), Now: x.engine.Clock.Now, Lease: x.lease.Check,
	})
	intent := journal.Intent{Attempt: attempt, Permit: granted.ID(), Irreversible: step.Irreversible}
	if step.Inputs != nil {
		inputs, err := step.Inputs(x)
		if err != nil {
			return fmt.Errorf("inputs of step %q: %w", step.Name, err)
		}
		if intent.Inputs, err = encodeJSON(inputs); err != nil {
			return fmt.Errorf("inputs of step %q: %w", step.Name, err)
		}
	}
	if err := x.append(ctx, journal.Intended, step.Name, intent); err != nil {
		return err
	}
	x.tell(Event{Kind: StepBegan, Step: step.Name, Attempt: attempt})
	if err := step.Apply(permit.NewContext(ctx, granted), x); err != nil {
		return x.unsuccessful(ctx, step, err, applied(err))
	}
	return nil
}

// applied says what a failed Apply means: refused, or not known.
func applied(err error) journal.Result {
	if apierr.MayHaveHappened(err) {
		return journal.Result{Result: journal.Unknown}
	}
	return journal.Result{Result: journal.Failure, Refused: true}
}

// awaited says what a failed wait means. The change was accepted: unless its
// operation ended, or was pushed aside, what becomes of it is not known.
func awaited(err error) journal.Result {
	switch apierr.ClassOf(err) {
	case apierr.Terminal, apierr.Conflict, apierr.Missing:
		return journal.Result{Result: journal.Failure}
	}
	return journal.Result{Result: journal.Unknown}
}

// overdue says that a change was not complete within its step's budget.
type overdue struct{ err error }

func (e *overdue) Error() string { return e.err.Error() }
func (e *overdue) Unwrap() error { return e.err }

// await waits until the change is complete. When the run itself is stopped the
// intent stays open, for the next one to look.
func (x *execution) await(ctx, limited context.Context, step runbook.Step) error {
	if step.Await != nil {
		if err := step.Await(limited, x); err != nil {
			switch {
			case context.Cause(ctx) != nil:
				return context.Cause(ctx)
			case context.Cause(limited) != nil:
				late := &overdue{fmt.Errorf("not complete within %s: %w", step.Budget, err)}
				return x.unsuccessful(ctx, step, late, journal.Result{Result: journal.Unknown})
			}
			return x.unsuccessful(ctx, step, err, awaited(err))
		}
	}
	return x.settle(ctx, step, journal.Result{Result: journal.Done})
}

// unsuccessful journals an attempt that was refused, or of which the answer was
// lost, and gives the error back.
func (x *execution) unsuccessful(ctx context.Context, step runbook.Step, err error, result journal.Result) error {
	if final(err) {
		return err
	}
	result.Reason, result.Class = err.Error(), apierr.ClassOf(err)
	if journalErr := x.settle(ctx, step, result); journalErr != nil {
		return journalErr
	}
	return fmt.Errorf("step %q: %w", step.Name, err)
}

func (x *execution) settle(ctx context.Context, step runbook.Step, result journal.Result) error {
	result.Attempt = x.record.Step(step.Name).Attempts
	if err := x.append(ctx, journal.Outcome, step.Name, result); err != nil {
		return err
	}
	x.tell(Event{Kind: StepEnded, Step: step.Name, Attempt: result.Attempt, Result: &result})
	return nil
}

// observe looks how far a step is, and looks again while it can't see.
func (x *execution) observe(ctx context.Context, step runbook.Step) (runbook.Observation, error) {
	limited, cancel := clock.WithTimeout(ctx, x.engine.Clock, denialPatience)
	defer cancel()
	for n := 1; ; n++ {
		seen := step.Observe(limited, x)
		err := seen.Failure()
		if err == nil {
			return seen, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return seen, cause
		}
		if final(err) {
			return seen, err
		}
		wait := backoff.Refusals.Pause(n, apierr.RetryAfter(err))
		class := apierr.ClassOf(err)
		blind := class == apierr.Terminal || class == apierr.Missing
		if blind || clock.Sleep(limited, x.engine.Clock, wait) != nil {
			return runbook.Undecidable(fmt.Sprintf("Has the change of step %q happened? It can't be seen: %v", step.Name, err), "it can't be seen: %s", err.Error()), context.Cause(ctx)
		}
	}
}
