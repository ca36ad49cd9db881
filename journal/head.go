package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"salve/internal/apierr"
)

// HeadError says that the lease does not vouch for a record that is longer than its
// header: it may have been cut, and nobody can tell.
type HeadError struct {
	Run, Target, Reason string
}

func (e *HeadError) Error() string {
	return fmt.Sprintf("head missing: the lease on %s does not vouch for run %q: %s. "+
		"hint: keep a copy of the record, look at it with salve runs show %s, then salve runs abandon %s --reason TEXT",
		e.Target, e.Run, e.Reason, e.Run, e.Run)
}

// setHead writes the record's head into the lease.
func (r *Record) setHead(ctx context.Context) error {
	open := OpenRun{
		Target: r.Header.Target.ID, Run: r.Run, Runbook: r.Header.Runbook, Location: r.backend.Location(), Key: r.key.ID(),
		Epoch: r.lease.Epoch(), Seq: len(r.marks), Sum: r.head().sum, Closed: r.Closed != nil, Boot: boot(),
	}
	open.Seal = r.key.seal(headPurpose, open.bytes())
	return r.lease.SetOpenRun(ctx, open)
}

// verifyHead compares the record with what the lease knows of it. A longer record
// with a valid chain is one whose process died between both writes.
func (r *Record) verifyHead(lease Lease) error {
	if _, none := lease.(noLease); none {
		return nil
	}
	reason, vouched := "it names no run", false
	for _, known := range namedBy(lease) {
		if known.Run != r.Run {
			reason = fmt.Sprintf("it names run %q", known.Run)
			continue
		}
		if !known.sealedBy(r.key) || known.Target != r.Header.Target.ID {
			return &HeadError{
				Run: r.Run, Target: r.Header.Target.ID,
				Reason: "its seal does not match: it was edited, or its newest head was taken away",
			}
		}
		if err := r.matches(&known); err != nil {
			return err
		}
		vouched = true
	}
	// Behind its header a record may have been cut down to where nothing was announced.
	// With the header alone, or resumed since, its process died before the lease named the run.
	begun := slices.ContainsFunc(r.Entries, func(e Entry) bool { return e.Kind != Opened && e.Kind != Resumed })
	if vouched || !begun {
		return nil
	}
	return &HeadError{Run: r.Run, Target: r.Header.Target.ID, Reason: reason}
}

// matches compares the record with a head whose seal was verified.
func (r *Record) matches(known *OpenRun) error {
	broken := func(reason string) error {
		return &BrokenError{Run: r.Run, Line: len(r.marks), Reason: reason, Target: r.Header.Target.ID}
	}
	if len(r.marks) < known.Seq {
		return broken(fmt.Sprintf("the lease knows %d entries: the record was cut, or an older copy was put back", known.Seq))
	}
	if known.Seq > 0 && r.marks[known.Seq-1].sum != known.Sum {
		return broken(fmt.Sprintf("entry %d is not the one that the lease knows", known.Seq))
	}
	return nil
}

// VerifyWhole compares a record that is only read with what its target's lease knows of it. It fails with *BrokenError
// when the record is shorter than the lease knows. It is no proof where it doesn't: the lease may name another run
// since, or a copy of the record is looked at.
func (r *Record) VerifyWhole(ctx context.Context, locker Locker) error {
	peeked, err := locker.Peek(ctx, r.Header.Target.ID)
	switch known := peeked.Open; {
	case apierr.ClassOf(err) == apierr.Missing:
		return nil
	case err != nil:
		return err
	case known == nil || known.Run != r.Run || known.Location != r.backend.Location() || !known.sealedBy(r.key):
		return nil
	case r.matches(known) == nil:
		return nil
	}
	// The run may have gone on between both readings.
	again, err := Load(ctx, r.backend, r.Run)
	if err != nil {
		return err
	}
	return again.matches(peeked.Open)
}

// Forget makes a target's lease name a run as closed whose record is lost or can't be
// believed: an operator has looked after what it left. It fails with class Missing
// when the lease names no such run.
func Forget(ctx context.Context, keys Keys, lease Lease, run string) error {
	for _, known := range namedBy(lease) {
		if known.Run != run {
			continue
		}
		known.Closed, known.Epoch = true, lease.Epoch()
		key, err := keys.Key(ctx, known.Runbook)
		if err == nil {
			known.Key = key.ID()
			known.Seal = key.seal(headPurpose, known.bytes())
		} // else its seal does not match, and all records are looked at
		return lease.SetOpenRun(ctx, known)
	}
	return apierr.New(apierr.Missing, "run %q not found in the lease", run)
}

// ElsewhereError says that a run of the target is open in another location.
type ElsewhereError struct{ Open OpenRun }

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("conflict: run %q of runbook %q is open on %s and recorded in %s",
		e.Open.Run, e.Open.Runbook, e.Open.Target, e.Open.Location)
}

// Elsewhere says of a run that was migrated where it is open.
func Elsewhere(h *History) error {
	return &ElsewhereError{Open: OpenRun{
		Target: h.Header.Target.ID, Run: h.Header.Run, Runbook: h.Header.Runbook, Location: h.MigratedTo.Where,
	}}
}

// LostRecordError says that the record of an open run is gone: only its lease
// still knows of it.
type LostRecordError struct{ Open OpenRun }

func (e *LostRecordError) Error() string {
	return fmt.Sprintf("record lost: run %q of runbook %q was at work on %s; "+
		"its lease knows %d entries, written until epoch %d in %s, and the record is not found. "+
		"hint: salve runs abandon %s --target %s --reason TEXT",
		e.Open.Run, e.Open.Runbook, e.Open.Target, e.Open.Seq, e.Open.Epoch, e.Open.Location, e.Open.Run, e.Open.Target)
}

// Found is what is known of a target's past.
type Found struct {
	// Record is the open run's; nil when none is open.
	Record *Record
	// Epoch is the highest under which a record that was looked at was written.
	Epoch int64
	// Unreadable are the records that can't be believed and that the lease does not
	// name. They are in nobody's way.
	Unreadable []error
}

// FindOpen gives the run that has to be finished before another may begin on the
// target: the one that the lease names. A lease that names none, or whose seal
// can't be verified, was never used or was edited: then all records are looked at,
// and what is not ours is in nobody's way.
//
// It fails with *ElsewhereError, *LostRecordError, and with *BrokenError,
// *UnsealedError or *KeyError when the record that the lease names is not what was
// written there.
func FindOpen(ctx context.Context, backend Backend, target string, known *OpenRun) (Found, error) {
	if known == nil || known.Target != target || CheckRunName(known.Run) != nil {
		return search(ctx, backend, target) // no run of ours has such a name: nobody could give it up
	}
	if known.Location != backend.Location() {
		// Its key may be out of reach: that a run is open elsewhere is believed.
		if known.Closed {
			return search(ctx, backend, target)
		}
		return Found{}, &ElsewhereError{Open: *known}
	}
	key, err := backend.Key(ctx, known.Runbook)
	var missing *KeyError
	switch {
	case errors.As(err, &missing) && known.Closed:
		return search(ctx, backend, target)
	case err != nil:
		return Found{}, fmt.Errorf("run %q is open on %s: %w", known.Run, target, err)
	case known.Key != key.ID() && !known.Closed:
		return Found{}, &UnsealedError{Run: known.Run, Format: Format, Key: known.Key, Want: key.ID(), Target: target}
	case !known.sealedBy(key):
		return search(ctx, backend, target)
	case known.Closed:
		return Found{Epoch: known.Epoch}, nil
	}
	record, err := Load(ctx, backend, known.Run)
	var absent *MissingError
	switch {
	case errors.As(err, &absent), err == nil && len(record.Entries) == 0:
		return Found{}, &LostRecordError{Open: *known}
	case err != nil:
		return Found{}, err
	}
	if err := record.matches(known); err != nil {
		return Found{}, err
	}
	found := Found{Epoch: record.Epoch}
	if record.Closed == nil {
		found.Record = record
	}
	return found, nil
}

// search looks at all records.
func search(ctx context.Context, backend Backend, target string) (Found, error) {
	var found Found
	var migrated *History
	var damaged error
	open, err := Find(ctx, backend, func(h *History) bool {
		if h.Header.Target.ID != target {
			return false
		}
		if found.Epoch = max(found.Epoch, h.Epoch); h.MigratedTo != nil {
			migrated = h
		}
		return h.Closed == nil
	}, func(_ string, err error) {
		var broken *BrokenError
		if errors.As(err, &broken) && broken.Ours && broken.Target == target {
			damaged = err
		}
		found.Unreadable = append(found.Unreadable, err)
	})
	switch {
	case err != nil:
		return Found{}, err
	case damaged != nil:
		return Found{}, damaged
	case len(open) > 0:
		found.Record = open[len(open)-1]
	case migrated != nil:
		return Found{}, Elsewhere(migrated)
	}
	return found, nil
}
