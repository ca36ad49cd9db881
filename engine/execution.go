package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// errBudget is the cause of a context whose run took longer than it may.
var errBudget = fmt.Errorf("the run's budget is over: %w", context.DeadlineExceeded)

// execution is one run at work. Its steps may be at work in parallel, each in a
// goroutine that the schedule owns.
type execution struct {
	engine  *Engine
	book    runbook.Runbook
	options Options
	log     *log
	leases  leases
	round   atomic.Int64
	// quiet: nobody is told of what it finds.
	quiet bool

	// agreed is the plan that was agreed to before this process changes anything; nil where nobody has to agree.
	agreed *agreement

	// mu guards what follows, and orders the events.
	mu       sync.Mutex
	warnings []string
	findings []runbook.Finding
	// summaries are what steps say of what they did, by their names.
	summaries map[string]string
}

func (x *execution) summary(step string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.summaries[step]
}

func (e *Engine) newExecution(book runbook.Runbook, record *journal.Record, held leases, options Options) *execution {
	x := &execution{engine: e, book: book, log: newLog(record, e.writer(record)), leases: held, options: options,
		summaries: map[string]string{}}
	x.nextRound()
	return x
}

// nextRound has the world observed afresh. No two rounds of an engine have the same
// number: what a runbook has read in one run is nothing that another may act on.
func (x *execution) nextRound() { x.round.Store(x.engine.rounds.Add(1)) }

// plan makes the plan of steps. What they will be made with, a runbook's code tells.
func (x *execution) plan(ctx context.Context, steps []runbook.Step, findings []runbook.Finding) (runbook.Plan, error) {
	return try(ctx, x.engine.Clock, 0, func() (runbook.Plan, error) { return x.book.Plan(x.view(""), steps, findings) })
}

// view is what a step sees of the run; a guard of the run itself for an empty name.
func (x *execution) view(step string) view { return view{execution: x, step: step} }

func (x *execution) append(ctx context.Context, kind journal.Kind, step string, data any) error {
	return x.log.append(ctx, journal.Pending{Kind: kind, Step: step, Data: data})
}

func (x *execution) warn(ctx context.Context, step, text string) error {
	if err := x.append(ctx, journal.Warned, step, journal.Message{Text: text}); err != nil {
		return err
	}
	x.mu.Lock()
	x.warnings = append(x.warnings, text)
	x.mu.Unlock()
	x.emit(Event{Kind: Warning, Step: step, Text: text})
	return nil
}

func (x *execution) emit(event Event) {
	if x.engine.Watch == nil || x.quiet {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	event.At, event.Run = x.engine.Clock.Now(), x.log.record.Run
	event.Runbook, event.Target = x.book.Name, x.book.Target
	x.engine.Watch(event)
}

// found tells of a finding for a purpose that was asked for since a time.
func (x *execution) found(purpose string, finding runbook.Finding, since time.Time) {
	x.emit(Event{Kind: Found, Step: purpose, Finding: &finding, Took: x.engine.Clock.Since(since)})
}

// keepStack journals where code panicked, if that is what an error tells of.
func (x *execution) keepStack(ctx context.Context, step string, err error) error {
	var panicked *apierr.PanicError
	if !errors.As(err, &panicked) || panicked.Journaled {
		return nil
	}
	panicked.Journaled = true
	return x.append(ctx, journal.Warned, step, journal.Message{Text: err.Error(), Stack: panicked.Stack})
}

// execute runs or goes on with a record until it ends.
func (e *Engine) execute(ctx context.Context, x *execution) (Result, error) {
	began := "opened"
	if len(x.log.record.Entries) > 1 {
		began = "resumed"
	}
	x.emit(Event{Kind: RunBegan, Text: began})
	verdict, err := x.end(ctx, x.proceed(ctx))
	if err != nil {
		return x.unrecorded(err)
	}
	x.emit(Event{Kind: RunEnded, Text: verdict.Reason, Verdict: &verdict})
	return x.result(verdict), nil
}

func (x *execution) result(verdict journal.Verdict) Result {
	x.mu.Lock()
	defer x.mu.Unlock()
	result := Result{
		Runbook: x.book.Name, Target: x.book.Target,
		Outcome: verdict.Outcome, Reason: verdict.Reason, Question: verdict.Question,
		Findings: x.findings, Warnings: x.warnings,
	}
	x.log.read(func(record *journal.Record) {
		result.Run, result.Open, result.Plan = record.Run, record.Closed == nil, record.Plan
	})
	return result
}

// proceed takes the run as far as it goes. The ending says how it stops; the
// journal does not hold it yet.
func (x *execution) proceed(ctx context.Context) ending {
	var rollingBack *journal.Verdict
	x.log.read(func(record *journal.Record) { rollingBack = record.RollingBack })
	if rollingBack != nil {
		return ending{verdict: *rollingBack, next: rollBackRun}
	}
	// Nobody's time to think is the run's.
	if err := x.agree(ctx); err != nil {
		return x.endingOf(ctx, err)
	}
	limited, cancel := clock.WithTimeoutCause(ctx, x.engine.Clock, x.book.Budget, errBudget)
	defer cancel()
	if err := x.runSteps(limited); err != nil {
		return x.endingOf(limited, err)
	}
	return x.check(limited)
}

// runSteps does what is left to do: preflight, guards and plan if no step began
// yet, then the steps.
func (x *execution) runSteps(ctx context.Context) error {
	if !x.began() {
		if err := x.start(ctx); err != nil {
			return err
		}
	} else if err := x.goOn(ctx); err != nil {
		return err
	}
	s, err := newSchedule(ctx, x)
	if err != nil {
		return err
	}
	return s.run(ctx)
}

func (x *execution) began() bool {
	began := false
	x.log.read(func(record *journal.Record) {
		for _, step := range x.book.Steps {
			history := record.Step(step.Name)
			began = began || history.Attempts > 0 || history.Finished() || history.Skipped()
		}
	})
	return began
}

// goOn asks the guards that a resumed run has to pass again.
func (x *execution) goOn(ctx context.Context) error {
	if x.agreed == nil || x.agreed.unprepared { // else they were asked for the plan that was agreed to
		if err := x.evaluate(ctx, "resume", x.view(""), x.onResume()); err != nil {
			return err
		}
	}
	if plan := x.log.record.Plan; plan != nil && x.book.Parallel > 0 {
		x.emit(Event{Kind: PlanMade, Plan: plan})
	}
	return x.askFirst(ctx)
}

func (x *execution) onResume() (guards []runbook.Guard) {
	for _, guard := range x.book.Guards {
		if guard.OnResume {
			guards = append(guards, guard)
		}
	}
	return guards
}

// askFirst observes every step that was cut off before any other begins, where
// several may be at work: a question that only an operator can answer is asked
// before more is done.
func (x *execution) askFirst(ctx context.Context) error {
	if x.book.Parallel == 0 {
		return nil
	}
	questions := &failures{}
	for _, step := range x.book.Steps {
		if step.Skip != "" || !x.log.step(step.Name).Unsettled() {
			continue
		}
		x.nextRound()
		seen, err := x.observe(ctx, step)
		if err != nil {
			return err
		}
		switch seen.State {
		case runbook.StateNotStarted:
			if err := x.closeAttempt(ctx, step, seen); err != nil {
				return err
			}
		case runbook.StateUndecidable:
			questions.all = append(questions.all, &undecidable{step.Name, seen})
			questions.steps = append(questions.steps, step.Name)
		case runbook.StateInFlight, runbook.StateDone:
		}
	}
	if len(questions.all) > 0 {
		return questions
	}
	return nil
}

// start runs the preflight, asks the guards and makes the plan.
func (x *execution) start(ctx context.Context) error {
	switch {
	case x.agreed == nil || x.agreed.tidies:
	case x.agreed.unprepared: // what is agreed to may be made now
		return x.evaluate(ctx, "start", x.view(""), x.book.Guards)
	default:
		return nil // the guards were asked and the plan was made right before
	}
	for _, step := range x.book.Preflight {
		if err := x.preflight(ctx, step); err != nil {
			return err
		}
	}
	if err := x.evaluate(ctx, "start", x.view(""), x.book.Guards); err != nil {
		return err
	}
	plan, err := x.plan(ctx, x.book.Steps, x.findings)
	if err != nil {
		return err
	}
	if err := x.append(ctx, journal.Planned, "", plan); err != nil {
		return err
	}
	x.emit(Event{Kind: PlanMade, Plan: &plan})
	return x.asAgreed(plan)
}

// preflight performs a step that tidies up, unless nothing was left to tidy. Its
// reading is shared with the guards then: a healthy target costs one reading.
func (x *execution) preflight(ctx context.Context, step runbook.Step) error {
	if !x.log.step(step.Name).Unsettled() {
		run := x.view(step.Name)
		look := journal.Evaluation{For: "step " + step.Name, Round: run.Round(), Preconditions: true}
		if _, err := x.evaluateAs(ctx, look, run, notOverridable(step.Preconditions)); err != nil {
			return err
		}
		seen, err := x.observe(ctx, step)
		if err != nil {
			return err
		}
		if seen.State == runbook.StateDone {
			return nil
		}
	}
	err := x.perform(ctx, step)
	x.nextRound()
	return err
}
