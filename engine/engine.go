package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// Engine runs runbooks on a journal.
type Engine struct {
	Journal journal.Backend
	Clock   clock.Clock
	// Holder is written into leases and records.
	Holder journal.Holder
	// Watch is told what happens, in order, from one goroutine at a time. May be nil.
	Watch func(Event)
	// NewRun names a new run; nil means by time and chance.
	NewRun func(now time.Time) string
}

// Options are what a person may add to a run.
type Options struct {
	// Overrides maps a guard's name to the reason for going on although it does
	// not hold.
	Overrides map[string]string
}

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
}

// UsageError says that the caller asked for something that can't be meant.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

// AwayError says that a run of the target is open in another journal, where its
// lease is too.
type AwayError struct {
	Run   string
	Where string
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("run %q of this target was moved to %s and may be at work there", e.Run, e.Where)
}

// ErrInterrupted is the cause to cancel a run's context with when a person or
// the system asks it to stop: it stops where it is and stays open.
var ErrInterrupted = errors.New("interrupted")

// Run executes a runbook. An open run of the same runbook on the same target is
// resumed instead. The error is not nil when the run could not begin or its
// journal could not be written: *UsageError, *journal.HeldError,
// *journal.BrokenError, or what the backend says.
func (e *Engine) Run(ctx context.Context, book runbook.Runbook, options Options) (Result, error) {
	if err := Validate(book, options); err != nil {
		return Result{}, err
	}
	name := e.newRun()
	lease, err := e.lock(ctx, book, name, 0)
	if err != nil {
		return Result{}, err
	}
	defer func() { e.release(ctx, lease) }()
	open, highest, err := e.openRun(ctx, book)
	if err != nil {
		return Result{}, err
	}
	if lease, err = e.above(ctx, book, name, lease, highest); err != nil {
		return Result{}, err
	}
	header, err := e.header(book, name, options)
	if err != nil {
		return Result{}, err
	}
	if open != nil {
		if !bytes.Equal(open.Header.Inputs, header.Inputs) {
			return Result{}, &InvalidError{fmt.Sprintf("run %q is open on this target and was begun with other inputs (%s): resume it", open.Run, open.Header.Inputs)}
		}
		return e.resume(ctx, book, open, lease, options)
	}
	record, err := journal.Create(ctx, e.Journal, e.Clock.Now, lease.Epoch(), header)
	if err != nil {
		return Result{}, err
	}
	return e.execute(ctx, book, record, lease)
}

// Resume goes on with an open run. The runbook must have been made from the
// inputs in the run's header.
func (e *Engine) Resume(ctx context.Context, book runbook.Runbook, run string, options Options) (Result, error) {
	if err := Validate(book, options); err != nil {
		return Result{}, err
	}
	lease, err := e.lock(ctx, book, run, 0)
	if err != nil {
		return Result{}, err
	}
	defer func() { e.release(ctx, lease) }()
	record, err := journal.Load(ctx, e.Journal, run)
	if err != nil {
		return Result{}, err
	}
	if lease, err = e.above(ctx, book, run, lease, record.Epoch); err != nil {
		return Result{}, err
	}
	switch {
	case record.Away != nil:
		return Result{}, &AwayError{Run: run, Where: record.Away.Where}
	case record.Header.Target.ID != book.Target.ID || record.Header.Runbook != book.Name:
		return Result{}, &InvalidError{fmt.Sprintf("run %q is of runbook %q on %s", run, record.Header.Runbook, record.Header.Target.ID)}
	case record.Closed != nil:
		return Result{}, &InvalidError{fmt.Sprintf("run %q is closed: %s (%s)", run, record.Closed.Outcome, record.Closed.Reason)}
	}
	return e.resume(ctx, book, record, lease, options)
}

func (e *Engine) resume(ctx context.Context, book runbook.Runbook, record *journal.Record, lease journal.Lease, options Options) (Result, error) {
	if record.Header.Version != book.Version {
		return Result{}, &InvalidError{fmt.Sprintf("run %q was begun with version %q of %s, this is version %q: resume it with the program that began it",
			record.Run, record.Header.Version, book.Name, book.Version)}
	}
	if lease.Epoch() <= record.Epoch {
		return Result{}, apierr.New(apierr.Conflict, "run %q was last written under epoch %d, but the lease gives %d: the lease's record was lost", record.Run, record.Epoch, lease.Epoch())
	}
	record.Continue(e.Clock.Now, lease.Epoch())
	resumption := journal.Resumption{Holder: e.holder(record.Run), Overrides: options.Overrides}
	if err := record.Append(ctx, journal.Resumed, "", resumption); err != nil {
		return Result{}, err
	}
	return e.execute(ctx, book, record, lease)
}

// openRun finds the run that has to be finished before another may begin, and the
// highest epoch under which a run of the target was written.
func (e *Engine) openRun(ctx context.Context, book runbook.Runbook) (_ *journal.Record, highest int64, _ error) {
	var broken error
	var away *journal.History
	open, err := journal.Find(ctx, e.Journal, func(h *journal.History) bool {
		if h.Header.Target.ID != book.Target.ID {
			return false
		}
		if highest = max(highest, h.Epoch); h.Away != nil {
			away = h
		}
		return h.Closed == nil
	}, func(run string, err error) {
		var damage *journal.BrokenError
		if errors.As(err, &damage) && damage.Target != book.Target.ID && damage.Target != "" {
			return
		}
		broken = err
	})
	switch {
	case err != nil:
		return nil, 0, err
	case broken != nil:
		return nil, 0, broken
	case away != nil:
		return nil, 0, &AwayError{Run: away.Header.Run, Where: away.Away.Where}
	case len(open) == 0:
		return nil, highest, nil
	}
	newest := open[len(open)-1]
	if newest.Header.Runbook != book.Name {
		return nil, 0, &InvalidError{fmt.Sprintf("run %q of runbook %q is open on this target: resume or abandon it first", newest.Run, newest.Header.Runbook)}
	}
	return newest, highest, nil
}

// above gives a lease whose epoch is higher than that of every record of the
// target: one whose memory was lost, as by deleting it, begins to count anew.
func (e *Engine) above(ctx context.Context, book runbook.Runbook, run string, lease journal.Lease, highest int64) (journal.Lease, error) {
	if lease.Epoch() > highest {
		return lease, nil
	}
	if err := lease.Release(ctx); err != nil {
		return lease, fmt.Errorf("giving back the lease of epoch %d, which is not above %d: %w", lease.Epoch(), highest, err)
	}
	renewed, err := e.lock(ctx, book, run, highest)
	if err != nil {
		return lease, err
	}
	return renewed, nil
}

func (e *Engine) lock(ctx context.Context, book runbook.Runbook, run string, above int64) (journal.Lease, error) {
	lease, err := e.Journal.Lock(ctx, journal.Claim{Target: book.Target.ID, Holder: e.holder(run), Above: above})
	if err != nil {
		return nil, fmt.Errorf("taking the lease: %w", err)
	}
	return lease, nil
}

func (e *Engine) release(ctx context.Context, lease journal.Lease) {
	// A lease that can't be given back ends with the process or by itself.
	_ = lease.Release(context.WithoutCancel(ctx))
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
	return journal.Header{
		Schema: 1, Run: run, Runbook: book.Name, Version: book.Version, Target: book.Target,
		Posture: book.Posture, Inputs: inputs, Overrides: options.Overrides, Holder: e.holder(run),
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

// Validate tells what of a runbook and its options can't be meant, without looking
// at anything.
func Validate(book runbook.Runbook, options Options) error {
	if err := book.Validate(); err != nil {
		return err
	}
	for name, reason := range options.Overrides {
		if reason == "" {
			return &InvalidError{fmt.Sprintf("the override of guard %q needs a reason", name)}
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
