package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// execution is one run at work. It is what guards and steps see as runbook.Run.
type execution struct {
	engine *Engine
	book   runbook.Runbook
	record *journal.Record
	lease  journal.Lease
	round  int
	// step is the one at work, for events.
	step     string
	warnings []string
	findings []runbook.Finding
	// mu orders what steps report from their goroutines.
	mu sync.Mutex
}

func (e *Engine) newExecution(book runbook.Runbook, record *journal.Record, lease journal.Lease) *execution {
	return &execution{engine: e, book: book, record: record, lease: lease}
}

// ID names the run.
func (x *execution) ID() string { return x.record.Run }

// Round counts the looks at the world.
func (x *execution) Round() int { return x.round }

// Note journals a value.
func (x *execution) Note(ctx context.Context, name string, value any) error {
	raw, err := encodeJSON(value)
	if err != nil {
		return fmt.Errorf("noting %q: %w", name, err)
	}
	return x.append(ctx, journal.Noted, x.step, journal.Note{Name: name, Value: raw})
}

// Recall reads a value back.
func (x *execution) Recall(name string, into any) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.record.Recall(name, into)
}

// ReadBack reads a value from the journal's backend.
func (x *execution) ReadBack(ctx context.Context, name string, into any) (bool, error) {
	kept, err := journal.Load(ctx, x.record.Backend(), x.record.Run)
	if err != nil {
		return false, err
	}
	return kept.Recall(name, into)
}

// Warn journals and shows a problem.
func (x *execution) Warn(ctx context.Context, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if err := x.append(ctx, journal.Warned, x.step, journal.Message{Text: text}); err != nil {
		return err
	}
	x.mu.Lock()
	x.warnings = append(x.warnings, text)
	x.mu.Unlock()
	x.tell(Event{Kind: Warning, Step: x.step, Text: text})
	return nil
}

// Report shows progress.
func (x *execution) Report(progress runbook.Progress) {
	x.tell(Event{Kind: StepMoved, Step: x.step, Progress: &progress})
}

// journalError marks what makes it unlawful to go on: the record can't be kept.
type journalError struct{ err error }

func (e *journalError) Error() string { return e.err.Error() }
func (e *journalError) Unwrap() error { return e.err }

// append writes to the journal even when the run's context has ended: what
// happened must be written down.
func (x *execution) append(ctx context.Context, kind journal.Kind, step string, data any) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.record.Append(context.WithoutCancel(ctx), kind, step, data); err != nil {
		return &journalError{err}
	}
	return nil
}

func (x *execution) tell(event Event) {
	if x.engine.Watch == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	event.At, event.Run = x.engine.Clock.Now(), x.record.Run
	x.engine.Watch(event)
}

// execute runs or goes on with a record until it ends.
func (e *Engine) execute(ctx context.Context, book runbook.Runbook, record *journal.Record, lease journal.Lease) (Result, error) {
	x := e.newExecution(book, record, lease)
	began := "opened"
	if len(record.Entries) > 1 {
		began = "resumed"
	}
	x.tell(Event{Kind: RunBegan, Text: began})
	limited, cancel := clock.WithTimeout(ctx, e.Clock, book.Budget)
	defer cancel()
	var verdict journal.Verdict
	how, err := x.proceed(limited)
	if err == nil {
		verdict, err = x.end(ctx, how)
	}
	if err != nil {
		return x.result(journal.Verdict{Outcome: runbook.NeedsAttention, Reason: err.Error()}), err
	}
	x.tell(Event{Kind: RunEnded, Text: verdict.Reason, Verdict: &verdict})
	return x.result(verdict), nil
}

func (x *execution) result(verdict journal.Verdict) Result {
	return Result{
		Run: x.record.Run, Runbook: x.book.Name, Target: x.book.Target,
		Outcome: verdict.Outcome, Reason: verdict.Reason, Question: verdict.Question,
		Open: x.record.Closed == nil, Findings: x.findings, Plan: x.record.Plan, Warnings: x.warnings,
	}
}

// proceed takes the run as far as it goes. The verdict says how it stops; the
// journal does not hold it yet.
func (x *execution) proceed(ctx context.Context) (ending, error) {
	if undoing := x.record.RollingBack; undoing != nil {
		return ending{verdict: *undoing, undo: true}, nil
	}
	err := x.walk(ctx)
	if err == nil {
		return x.check(ctx)
	}
	return x.endingOf(ctx, err)
}

// walk does what is left to do: tidying, guards and plan if no step began yet,
// then the steps.
func (x *execution) walk(ctx context.Context) error {
	if !x.began() {
		if err := x.start(ctx); err != nil {
			return err
		}
	}
	for _, step := range x.book.Steps {
		if x.record.Step(step.Name).Finished() {
			continue
		}
		if err := x.perform(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

func (x *execution) began() bool {
	for _, step := range x.book.Steps {
		history := x.record.Step(step.Name)
		if history.Attempts > 0 || history.Finished() {
			return true
		}
	}
	return false
}

// start tidies up, asks the guards and makes the plan.
func (x *execution) start(ctx context.Context) error {
	x.round++
	for _, step := range x.book.Preflight {
		if err := x.tidy(ctx, step); err != nil {
			return err
		}
	}
	if err := x.judge(ctx, "start", x.book.Guards); err != nil {
		return err
	}
	plan, err := x.book.Plan(x, x.book.Steps, x.findings)
	if err != nil {
		return err
	}
	if err := x.append(ctx, journal.Planned, "", plan); err != nil {
		return err
	}
	x.tell(Event{Kind: PlanMade, Plan: &plan})
	return nil
}

// tidy performs a step of Before, unless nothing was left to tidy. Its reading
// is shared with the guards then: a healthy target costs one look.
func (x *execution) tidy(ctx context.Context, step runbook.Step) error {
	if !x.record.Step(step.Name).Unsettled() {
		if err := x.judge(ctx, "step "+step.Name, step.Preconditions); err != nil {
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
	x.round++
	return err
}

var errLeaseLost = errors.New("the target is not shown to be ours any more")
