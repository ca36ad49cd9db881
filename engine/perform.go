package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

const (
	// denialPatience is how long a refusal for lack of rights is waited out:
	// role assignments take minutes to spread.
	denialPatience = 5 * time.Minute
	// stepPatience is how long a step is tried, at least, while it is refused for
	// reasons that clear by themselves.
	stepPatience = 20 * time.Minute
	// lateRequest is how long a request whose answer was lost may still be on its
	// way: only after that "it did not happen" means that it won't.
	lateRequest = time.Minute
	// unhappened begins the reason of an attempt that was seen to have changed nothing.
	unhappened = "it did not happen: "
)

// refusals is the schedule between attempts at a step. ARM refills the right to
// write agent pools once a minute, so that a faster one would only burn it.
func refusals() backoff.Exponential {
	return backoff.Exponential{First: 5 * time.Second, Longest: time.Minute, Factor: 1.7}
}

// undecidable says that only an operator can tell whether a change happened.
type undecidable struct {
	step string
	seen runbook.Observation
}

func (e *undecidable) Error() string { return fmt.Sprintf("step %s: %s", e.step, e.seen.Reason) }

// overdue says that a change was not complete within its step's budget.
type overdue struct{ err error }

func (e *overdue) Error() string { return e.err.Error() }
func (e *overdue) Unwrap() error { return e.err }

// ends tells errors that end a run whatever its other steps do: nothing can be
// recorded any more, or the run was asked to stop.
func ends(err error) bool {
	var refused *journal.WriteError
	return errors.As(err, &refused) || errors.Is(err, errLeaseLost) || errors.Is(err, ErrInterrupted)
}

// final tells errors after which a step is not attempted again, whatever their class.
func final(err error) bool {
	var decided *decided
	var question *undecidable
	var late *overdue
	return ends(err) || errors.As(err, &decided) || errors.As(err, &question) || errors.As(err, &late)
}

// performance is a step on its way to its end.
type performance struct {
	*execution
	step  runbook.Step
	began time.Time
	// refused counts the refusals that clear by themselves; deniedSince is when the
	// first one for lack of rights came.
	refused     int
	deniedSince time.Time
	// doubtful is the error of an attempt that nobody has classified, or that says
	// "refused" after requests of it were not. It ends the step, unless the world
	// shows that the change happened.
	doubtful error
	// amended: RetryWith has chosen other inputs than those that were planned.
	amended bool
}

// perform takes a step to its end: attempts until one is done, one is refused
// for good, or the time is over.
func (x *execution) perform(ctx context.Context, step runbook.Step) error {
	if step.Skip != "" {
		return x.record(ctx, step, journal.Result{Result: journal.Skipped, Reason: step.Skip})
	}
	p := &performance{execution: x, step: step, began: x.engine.Clock.Now()}
	for {
		err := p.attempt(ctx)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		retry, wait, err := p.again(ctx, err)
		if !retry || x.engine.Clock.Since(p.began) > max(step.Budget, stepPatience) {
			return err
		}
		if wait > 0 {
			text := fmt.Sprintf("%v; next attempt in %s", err, wait.Round(time.Second))
			x.emit(Event{Kind: Waiting, Step: step.Name, Text: text})
		}
		if err := clock.Sleep(ctx, x.engine.Clock, wait); err != nil {
			return err
		}
	}
}

// again decides whether a failed attempt is followed by another one, and when.
func (p *performance) again(ctx context.Context, err error) (retry bool, wait time.Duration, _ error) {
	var question *runbook.QuestionError
	if errors.As(err, &question) && !ends(err) {
		return false, 0, &undecidable{p.step.Name, runbook.Undecidable(question.Question, "%s", question.Reason)}
	}
	if final(err) || p.doubtful != nil {
		return false, 0, err
	}
	if lost := p.leases.Check(ctx); lost != nil {
		return false, 0, lost
	}
	if apierr.IsPermanent(err) {
		return false, 0, err
	}
	switch apierr.ClassOf(err) {
	case apierr.Conflict, apierr.Transient, apierr.Throttled:
		p.refused++
		return true, refusals().Pause(p.refused, apierr.RetryAfter(err)), err
	case apierr.Denied:
		now := p.engine.Clock.Now()
		if p.deniedSince.IsZero() {
			p.deniedSince = now
		}
		p.refused++
		return now.Sub(p.deniedSince) < denialPatience, refusals().Pause(p.refused, apierr.RetryAfter(err)), err
	case apierr.Unclassified, apierr.Missing, apierr.Terminal:
	}
	if p.log.step(p.step.Name).Unsettled() {
		// Observe once more, when no request of the attempt can be on its way any longer.
		p.doubtful = err
		if ended(err) {
			return true, 0, err
		}
		return true, lateRequest + time.Second, err
	}
	if p.step.RetryWith == nil || apierr.ClassOf(err) == apierr.Unclassified {
		return false, 0, err
	}
	amended, amendErr := p.retryWith(ctx, err)
	p.amended = p.amended || amended
	if amendErr != nil {
		return false, 0, errors.Join(err, amendErr)
	}
	return amended, 0, err
}

func (p *performance) retryWith(ctx context.Context, refused error) (bool, error) {
	return try(ctx, p.engine.Clock, p.step.Grace, func() (bool, error) {
		return p.step.RetryWith(ctx, p.view(p.step.Name), refused)
	})
}

// attempt takes a step from wherever it is to done.
func (p *performance) attempt(ctx context.Context) error {
	limited, cancel := p.limit(ctx)
	defer cancel()
	state, err := p.begin(limited)
	if err != nil || state == runbook.StateDone {
		return err
	}
	return p.await(ctx, limited)
}

func (p *performance) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.step.Budget == 0 {
		return context.WithCancel(ctx)
	}
	return clock.WithTimeout(ctx, p.engine.Clock, p.step.Budget)
}

// begin makes sure that the change is under way. A change that was announced
// earlier is observed first: it is never repeated if it happened.
func (p *performance) begin(ctx context.Context) (runbook.State, error) {
	announced := p.log.step(p.step.Name).Attempts > 0
	if announced {
		p.nextRound()
	} else if err := p.evaluateStep(ctx, p.step); err != nil {
		return "", err
	}
	evaluated := p.engine.Clock.Now()
	seen, err := p.observe(ctx, p.step)
	if err != nil {
		return "", err
	}
	switch seen.State {
	case runbook.StateDone:
		p.emit(Event{Kind: StepBegan, Step: p.step.Name})
		done := journal.Result{Result: journal.Done, Observed: true, Reason: seen.Reason}
		return runbook.StateDone, p.record(ctx, p.step, done)
	case runbook.StateInFlight:
		p.emit(Event{Kind: StepBegan, Step: p.step.Name, Text: "already under way: " + seen.Reason})
		return runbook.StateInFlight, nil
	case runbook.StateUndecidable:
		if !answeredRetry(p.log.step(p.step.Name)) {
			return "", &undecidable{p.step.Name, seen}
		}
	case runbook.StateNotStarted:
		if err := p.notHappened(ctx, seen); err != nil {
			return "", err
		}
	}
	// A step may have been observed for minutes until it could be seen.
	if announced || p.engine.Clock.Since(evaluated) > freshness {
		if err := p.evaluateStep(ctx, p.step); err != nil {
			return "", err
		}
	}
	return runbook.StateInFlight, p.change(ctx)
}

// notHappened closes an attempt whose change is seen not to have happened. It fails
// when that attempt's error is one that nobody has classified: it is no reason to
// make the change again.
func (p *performance) notHappened(ctx context.Context, seen runbook.Observation) error {
	if err := p.closeAttempt(ctx, p.step, seen); err != nil {
		return err
	}
	return p.doubtful
}

// closeAttempt journals that the change of an announced attempt did not happen. Only
// when no request of it can be on its way any longer is that said for good.
func (x *execution) closeAttempt(ctx context.Context, step runbook.Step, seen runbook.Observation) error {
	history := x.log.step(step.Name)
	never := !seen.Partial && x.engine.Clock.Since(history.Intended) > lateRequest
	if !history.Unsettled() && !(history.Crossed() && never) {
		return nil
	}
	// A step that says again what was journaled of it, resume after resume, doesn't begin anew each time.
	reason := unhappened + strings.TrimPrefix(seen.Reason, unhappened)
	return x.record(ctx, step, journal.Result{Result: journal.Failure, Observed: true, Refused: never, Reason: reason})
}

// record journals the outcome of an attempt.
func (x *execution) record(ctx context.Context, step runbook.Step, result journal.Result) error {
	result.Attempt = x.log.step(step.Name).Attempts
	if result.Result == journal.Done && result.Reason == "" {
		result.Reason = x.summary(step.Name)
	}
	if err := x.append(ctx, journal.Outcome, step.Name, result); err != nil {
		return err
	}
	x.emit(Event{Kind: StepEnded, Step: step.Name, Attempt: result.Attempt, Result: &result})
	return nil
}

// observe asks a step how far it is, again and again while it can't tell.
func (x *execution) observe(ctx context.Context, step runbook.Step) (runbook.Observation, error) {
	limited, cancel := clock.WithTimeout(ctx, x.engine.Clock, denialPatience)
	defer cancel()
	run := x.view(step.Name)
	var refusal error
	for n := 1; ; n++ {
		seen := call(limited, x.engine.Clock, step.Grace, func() runbook.Observation { return step.Observe(limited, run) },
			runbook.NotObserved)
		err := seen.Failure()
		if err == nil {
			return seen, nil
		}
		if final(err) {
			return runbook.Observation{}, err
		}
		if err := x.keepStack(ctx, step.Name, err); err != nil {
			return runbook.Observation{}, err
		}
		// An attempt that the end of the patience cut off knows nothing; the one before knows why there was no answer.
		if refusal != nil && limited.Err() != nil && cutOff(err) {
			err = fmt.Errorf("%w; the last attempt: %w", refusal, err)
		}
		refusal = err
		class := apierr.ClassOf(err)
		blind := class == apierr.Terminal || class == apierr.Missing || class == apierr.Unclassified ||
			apierr.IsPermanent(err)
		wait := backoff.Refusals().Pause(n, apierr.RetryAfter(err))
		if !blind && limited.Err() == nil {
			text := fmt.Sprintf("can't be observed: %v; next attempt in %s", err, wait.Round(time.Second))
			x.emit(Event{Kind: Waiting, Step: step.Name, Text: text})
		}
		if !blind && clock.Sleep(limited, x.engine.Clock, wait) == nil {
			continue
		}
		if ctx.Err() != nil {
			return runbook.Observation{}, context.Cause(ctx)
		}
		question := fmt.Sprintf("Has the change of step %q happened? It can't be observed: %v", step.Name, err)
		return runbook.Undecidable(question, "it can't be observed: %v", err), nil
	}
}

// cutOff tells the errors of an attempt that its context ended.
func cutOff(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
