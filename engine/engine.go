package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// Engine runs runbooks on a journal.
type Engine struct {
	Journal journal.Store
	Clock   clock.Clock
	// Holder is written into leases and records.
	Holder journal.Holder
	// Program is the version of the program, and Command what was typed: both are for the record, and may be empty.
	Program, Command string
	// Route are the flags that lead to the same world again, for the record.
	Route []string
	// Rehearsal names the scenario that is rehearsed, for the record; empty for a real run.
	Rehearsal string
	// Watch is told what happens, in order, from one goroutine at a time. May be nil.
	Watch func(Event)
	// Appended is told of each write to the journal: how many entries, how long it took, and its error. May be nil; runs
	// that are executed at the same time call it at the same time.
	Appended func(entries int, took time.Duration, err error)
	// Approvals is where it is looked for approvals; nil where no run waits for any.
	Approvals Approvals
	// NewRun names a new run; nil means by time and chance.
	NewRun func(now time.Time) string
	// Places bound the steps of this engine's runs together with those of others; nil bounds each run by its runbook
	// alone.
	Places *Places

	// rounds counts the rounds of all its runs.
	rounds atomic.Int64
}

// Options are what an operator may add to a run.
type Options struct {
	// Overrides maps a guard's name to the reason for going on although it does
	// not hold.
	Overrides map[string]string
	// Answers say what became of steps that can't be observed, when their run is
	// resumed. Those that nobody asked for are refused before anything is written.
	Answers map[string]Answer
	// CheckAnswer refuses an answer that can't be taken. Nil takes all.
	CheckAnswer func(open *journal.History, step string, answer Answer) error
	// SameRun gives nil when an open run of the target is the one that is asked for, and
	// otherwise says why it is not. Nil compares the inputs.
	SameRun func(open journal.Header) error
	// Supersede is asked before an open run with other inputs is closed in favour of
	// this one; its error keeps it. Nil keeps every open run.
	Supersede func(open *journal.History) error
	// Plan is the only plan that the run may execute. Nil leaves that to the guards.
	Plan *ExpectedPlan
	// Approval makes the run wait until its plan is approved. A run that was started with
	// a rule keeps it. Nil asks for none.
	Approval *journal.ApprovalRule
	// ApprovedIn is the run whose approval covers this one, of which it is a part: nobody is asked in this process. The
	// rule is kept all the same, for whoever resumes the run by itself. Empty where there is no such run.
	ApprovedIn string
}

// covered tells whether the approval of another run covers this one.
func (o Options) covered() bool { return o.ApprovedIn != "" }

// Result is how a call of Run or Resume ended.
type Result struct {
	Run     string          `json:"run,omitempty"`
	Runbook string          `json:"runbook"`
	Target  runbook.Target  `json:"target"`
	Outcome runbook.Outcome `json:"outcome"`
	Reason  string          `json:"reason"`
	// Question is what a person has to answer before the run can go on.
	Question string `json:"question,omitempty"`
	// Open says that the run is not closed: it can be resumed.
	Open     bool              `json:"open,omitempty"`
	Findings []runbook.Finding `json:"findings,omitempty"`
	Plan     *runbook.Plan     `json:"plan,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	// Unrecorded says that the journal could not be written any more after a change
	// had been announced: Reason says what is known to be done, and Notes is what
	// only this process still knows.
	Unrecorded bool                       `json:"unrecorded,omitempty"`
	Notes      map[string]json.RawMessage `json:"notes,omitempty"`
}

// InvalidError says what of a request is invalid.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

// ErrInterrupted is the cause to cancel a run's context with when a person or
// the system asks it to stop: it stops where it is and stays open.
var ErrInterrupted = errors.New("interrupted")

// Run executes a runbook. An open run of the same runbook on the same target is
// resumed instead. The error is not nil when the run could not begin, or when its
// journal could not be written before anything was announced: *InvalidError,
// *runbook.InvalidError, *journal.HeldError, *journal.BrokenError, *UnrecordedError,
// or what the backend says.
func (e *Engine) Run(ctx context.Context, book runbook.Runbook, options Options) (Result, error) {
	if err := e.validate(book, options); err != nil {
		return Result{}, err
	}
	name := e.newRun()
	held, err := e.lock(ctx, book, name, 0)
	if err != nil {
		return Result{}, err
	}
	defer func() { held.release(ctx) }()
	open, highest, err := e.openRun(ctx, book, held.OpenRun())
	if err != nil {
		return Result{}, err
	}
	if held, err = e.above(ctx, book, name, held, highest); err != nil {
		return Result{}, err
	}
	header, err := e.header(book, name, options)
	if err != nil {
		return Result{}, err
	}
	if open != nil {
		if options.same(open.Header, header) == nil {
			return e.resume(ctx, book, open, held, header, options)
		}
		if err := e.checkSuperseding(ctx, book, open, options); err != nil {
			return Result{}, err
		}
		if err := e.supersede(ctx, open, held, name, options); err != nil {
			return Result{}, err
		}
	}
	if err := options.checkAnswers(&journal.History{}); err != nil {
		return Result{}, err
	}
	record, err := journal.Create(ctx, e.Journal, held.Lease, e.Clock.Now, header)
	if err != nil {
		return Result{}, err
	}
	return e.execute(ctx, e.newExecution(book, record, held, options))
}

// same gives nil when an open run is the one that is asked for.
func (o Options) same(open, asked journal.Header) error {
	if o.SameRun != nil && open.Runbook == asked.Runbook {
		return o.SameRun(open)
	}
	if open.Runbook != asked.Runbook || !bytes.Equal(open.Inputs, asked.Inputs) {
		return &InvalidError{fmt.Sprintf("run %s was started with different inputs (%s)", open.Run, open.Inputs)}
	}
	return nil
}

// supersede closes an open run in favour of another with other inputs.
func (e *Engine) supersede(ctx context.Context, open *journal.Record, held leases, by string, options Options) error {
	if options.Supersede == nil {
		return &InvalidError{fmt.Sprintf(
			"target %s has an open run %s started with different inputs (%s). hint: salve resume %s",
			open.Header.Target.Name, open.Run, open.Header.Inputs, open.Run)}
	}
	if err := options.Supersede(open.History); err != nil {
		return err
	}
	if err := open.Reopen(held.Lease, e.Clock.Now); err != nil {
		return err
	}
	return open.Append(ctx, journal.Closed, "", journal.Verdict{
		Outcome: runbook.Failed, Reason: fmt.Sprintf("superseded by run %s", by),
	})
}

// Resume goes on with an open run. The runbook must have been made from the
// inputs in the run's header.
func (e *Engine) Resume(ctx context.Context, book runbook.Runbook, run string, options Options) (Result, error) {
	if err := e.validate(book, options); err != nil {
		return Result{}, err
	}
	held, err := e.lock(ctx, book, run, 0)
	if err != nil {
		return Result{}, err
	}
	defer func() { held.release(ctx) }()
	record, err := journal.Load(ctx, e.Journal, run)
	if err != nil {
		return Result{}, err
	}
	if held, err = e.above(ctx, book, run, held, record.Epoch); err != nil {
		return Result{}, err
	}
	header, err := e.header(book, run, options)
	if err != nil {
		return Result{}, err
	}
	switch {
	case record.MigratedTo != nil:
		return Result{}, journal.Elsewhere(record.History)
	case record.Header.Target.ID != book.Target.ID || record.Header.Runbook != book.Name:
		return Result{}, &InvalidError{fmt.Sprintf("run %s is of runbook %s on %s", run, record.Header.Runbook,
			record.Header.Target.ID)}
	case record.Closed != nil:
		return Result{}, &InvalidError{fmt.Sprintf("run %s is closed: %s (%s)", run, record.Closed.Outcome,
			record.Closed.Reason)}
	}
	if err := options.same(record.Header, header); err != nil {
		return Result{}, err
	}
	return e.resume(ctx, book, record, held, header, options)
}

func (e *Engine) resume(ctx context.Context, book runbook.Runbook, record *journal.Record, held leases,
	asked journal.Header, options Options) (Result, error) {
	if record.Header.Version != book.Version {
		return Result{}, &InvalidError{fmt.Sprintf(
			"run %s was started with version %q of %s, this is version %q: resume it with the program that started it",
			record.Run, record.Header.Version, book.Name, book.Version)}
	}
	if err := options.checkAnswers(record.History); err != nil {
		return Result{}, err
	}
	if err := e.checkRule(record, options); err != nil {
		return Result{}, err
	}
	if err := options.checkPlan(record); err != nil {
		return Result{}, err
	}
	if err := options.checkInputs(record, asked); err != nil {
		return Result{}, err
	}
	if err := record.Reopen(held.Lease, e.Clock.Now); err != nil {
		return Result{}, err
	}
	resumption := journal.Resumption{Holder: e.holder(record.Run), Overrides: options.Overrides, Inputs: asked.Inputs,
		Program: asked.Program, Command: asked.Command}
	entries := []journal.Pending{{Kind: journal.Resumed, Data: resumption}}
	entries = append(entries, options.entries(record.History, e.Holder)...)
	if err := record.AppendAll(ctx, entries...); err != nil {
		return Result{}, err
	}
	return e.execute(ctx, e.newExecution(book, record, held, options))
}

// openRun finds the run that has to be finished before another may begin, which the
// target's lease names, and the highest epoch under which a run of it was written.
func (e *Engine) openRun(ctx context.Context, book runbook.Runbook, named *journal.OpenRun) (
	_ *journal.Record, highest int64, _ error,
) {
	found, err := journal.FindOpen(ctx, e.Journal, book.Target.ID, named)
	switch {
	case err != nil:
		return nil, 0, err
	case found.Record == nil:
		return nil, found.Epoch, nil
	case found.Record.Header.Runbook != book.Name:
		return nil, 0, &InvalidError{fmt.Sprintf("run %q of runbook %q is open on this target: resume or abandon it first",
			found.Record.Run, found.Record.Header.Runbook)}
	}
	return found.Record, found.Epoch, nil
}

// above gives a lease whose epoch is higher than that of every record of the
// target: one whose memory was lost, as by deleting it, begins to count anew.
func (e *Engine) above(ctx context.Context, book runbook.Runbook, run string, held leases, highest int64) (leases,
	error) {
	if held.Epoch() > highest {
		return held, nil
	}
	held.release(ctx)
	return e.lock(ctx, book, run, highest)
}

func (e *Engine) holder(run string) journal.Holder {
	holder := e.Holder
	holder.Run, holder.Since = run, e.Clock.Now().UTC()
	return holder
}

func (e *Engine) header(book runbook.Runbook, run string, options Options) (journal.Header, error) {
	inputs, err := json.Marshal(book.Inputs)
	if err != nil {
		return journal.Header{}, fmt.Errorf("encoding the inputs of %s: %w", book.Name, err)
	}
	bound := ""
	if options.Plan != nil && !options.Plan.StepsOnly {
		bound = options.Plan.Digest
	}
	return journal.Header{
		Plan: bound, Approval: options.Approval,
		Schema: 1, Run: run, Runbook: book.Name, Version: book.Version, Target: book.Target,
		Posture: book.Posture, Inputs: inputs, Overrides: options.Overrides, Holder: e.holder(run),
		Program: e.Program, Command: e.Command, Route: e.Route, Rehearsal: e.Rehearsal,
	}, nil
}

func (e *Engine) newRun() string {
	now := e.Clock.Now().UTC()
	if e.NewRun != nil {
		return e.NewRun(now)
	}
	tail := make([]byte, 3)
	_, _ = rand.Read(tail) // never fails, by its documentation
	return now.Format("20060102-150405-") + hex.EncodeToString(tail)
}

// validate finds what is invalid before anything is read or changed.
func (e *Engine) validate(book runbook.Runbook, options Options) error {
	if e.Clock == nil || e.Journal == nil {
		return &InvalidError{"the engine requires a clock and a journal"}
	}
	if options.Approval != nil && e.Approvals == nil && !options.covered() {
		return &InvalidError{"the run is to wait for an approval, and there is nowhere to look for one"}
	}
	return errors.Join(Validate(book, options), options.Plan.of(book.Target))
}

// checkRule refuses another rule of approval than the one that a run was started with.
func (e *Engine) checkRule(record *journal.Record, options Options) error {
	rule := record.Header.Approval
	switch {
	case rule == nil:
		return nil
	case options.Approval != nil && !rule.Equal(options.Approval):
		return &InvalidError{fmt.Sprintf("run %s was started with another rule of approval, which it keeps", record.Run)}
	case e.Approvals == nil && !record.PastReturn() && !options.covered():
		return &InvalidError{fmt.Sprintf("run %s waits for an approval, and there is nowhere to look for one", record.Run)}
	}
	return nil
}

// Validate tells what of a runbook and its options is invalid, without reading
// anything.
func Validate(book runbook.Runbook, options Options) error {
	if err := book.Validate(); err != nil {
		return err
	}
	for name, reason := range options.Overrides {
		if reason == "" {
			return &InvalidError{fmt.Sprintf("the override of guard %q requires a reason", name)}
		}
		if err := overridable(book, name); err != nil {
			return err
		}
	}
	return nil
}

func overridable(book runbook.Runbook, name string) error {
	for _, guard := range book.Guards {
		switch {
		case guard.Name == name && guard.NotOverridable:
			return &InvalidError{fmt.Sprintf("guard %q can't be overridden", name)}
		case guard.Name == name:
			return nil
		}
	}
	return &InvalidError{fmt.Sprintf("%s has no guard %q that could be overridden", book.Name, name)}
}
