package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// TestAMoveIsFinishedWhereverItWasCutOff: at whatever call it dies, the run is never
// open twice, the same command finishes it, and all of it arrives.
func TestAMoveIsFinishedWhereverItWasCutOff(t *testing.T) {
	for n := 0; ; n++ {
		s := newScene(t)
		if err := s.lease.Release(ctx); err != nil {
			t.Fatal(err)
		}
		s.left = n
		died := s.migrate()
		s.left = -1
		if s.failed == "" {
			return
		}
		here := mustLoad(t, s.store)
		there, err := journal.Load(ctx, s.other, "run-1")
		if err == nil && len(there.Entries) > 0 && there.Closed == nil && here.Closed == nil {
			t.Errorf("call %d (%s): it is open in both", n, s.failed)
		}
		for _, store := range []*fragile{s.store, s.other} {
			if peeked, err := store.Peek(ctx, "lamp/1"); err != nil || peeked.Holder != nil {
				t.Errorf("call %d (%s): a lease is held: %+v, %v", n, s.failed, peeked.Holder, err)
			}
		}
		if err := s.migrate(); err != nil {
			t.Errorf("call %d (%s) failed (%v), and it can't be finished: %v", n, s.failed, died, err)
			continue
		}
		there = mustLoad(t, s.other)
		data, err := there.ReadExport(ctx, "bundle")
		var pod struct{ Args []string }
		_, recalled := there.Recall("pod", &pod)
		if err := errors.Join(err, recalled); err != nil || string(data) != "definition" || len(pod.Args) != 1 ||
			string(there.Header.Inputs) != podSpec {
			t.Errorf("call %d (%s): export %q, note %v, inputs %s, %v", n, s.failed, data, pod, there.Header.Inputs, err)
		}
		peeked, err := s.other.Peek(ctx, "lamp/1")
		if err != nil || peeked.Open == nil || peeked.Open.Closed || peeked.Open.Seq != len(there.Entries) ||
			peeked.Open.Location != s.other.Location() {
			t.Errorf("call %d (%s): the lease names %+v of %d entries, %v", n, s.failed, peeked.Open, len(there.Entries), err)
		}
		arrived := 0
		for _, entry := range there.Entries {
			if entry.Kind == journal.Arrived {
				arrived++
			}
		}
		if arrived != 1 {
			t.Errorf("call %d (%s): it arrived %d times", n, s.failed, arrived)
		}
		lease := locked(t, s.other)
		if err := errors.Join(there.Reopen(lease, now),
			there.Append(ctx, journal.Resumed, "", journal.Resumption{})); err != nil {
			t.Errorf("call %d (%s): it can't be resumed there: %v", n, s.failed, err)
		}
	}
}

// TestOneLockerOfBothLocationsIsAskedOnce: the lease in the world is that of both.
func TestOneLockerOfBothLocationsIsAskedOnce(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	world := journal.NewMemory()
	from.Locker, to.Locker = journal.Lockers{world, from.Locker}, journal.Lockers{world, to.Locker}
	begin(t, from)
	moved, err := migrate(from, to)
	if err != nil || moved.Epoch <= 5 {
		t.Fatalf("%+v, %v", moved, err)
	}
	peeked, err := world.Peek(ctx, "lamp/1")
	if err != nil || peeked.Open == nil || peeked.Open.Run != "run-1" ||
		peeked.Open.Location != to.Backend.Location() || peeked.Holder != nil {
		t.Errorf("the world's lease is %+v, %v", peeked, err)
	}
}

// TestWhatCannotBeMoved: a run that isn't there, one without an entry, one that is at
// work.
func TestWhatCannotBeMoved(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	var missing *journal.MissingError
	if _, err := migrate(from, to); !errors.As(err, &missing) {
		t.Errorf("a run that isn't there: %v", err)
	}
	if err := from.Create(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate(from, to); apierr.ClassOf(err) != apierr.Missing || err == nil ||
		!strings.Contains(err.Error(), "is empty") {
		t.Errorf("a run without an entry: %v", err)
	}
	if err := from.Delete(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	begin(t, from)
	lease, err := to.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-1", Host: "ci-7"}})
	if err != nil {
		t.Fatal(err)
	}
	var held *journal.HeldError
	if _, err := migrate(from, to); !errors.As(err, &held) || held.Holder.Host != "ci-7" ||
		!strings.Contains(err.Error(), "migrating run") {
		t.Errorf("a run that is at work: %v", err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate(from, to); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestRecordThatItsLeaseDoesNotVouchForIsNotMoved: moving it would vouch for it.
func TestRecordThatItsLeaseDoesNotVouchForIsNotMoved(t *testing.T) {
	store, _ := underLease(t)
	if err := os.RemoveAll(filepath.Join(store.Dir(), "leases")); err != nil {
		t.Fatal(err)
	}
	from, to := journal.Location{Backend: store, Locker: store, Where: "from", ID: "from"}, place(t, "to")
	if _, err := migrate(from, to); !isA[*journal.HeadError](err) || !strings.Contains(err.Error(), "closing run") {
		t.Errorf("got %v", err)
	}
	if here := load(t, from); here.Closed != nil {
		t.Errorf("it is closed: %+v", here.Closed)
	}
}

// ending ends the run right before the lease is taken.
type ending struct {
	journal.Locker
	end func() error
}

func (e *ending) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	if err := e.end(); err != nil {
		return nil, err
	}
	return e.Locker.Lock(ctx, claim)
}

// TestARunThatEndedMeanwhileIsCopied: it was closed after it was read and before the
// lease was ours.
func TestARunThatEndedMeanwhileIsCopied(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	begin(t, from)
	from.Locker = &ending{from.Locker, func() error {
		record := load(t, from)
		return errors.Join(record.Reopen(journal.NoLease(6), now),
			record.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated}))
	}}
	moved, err := migrate(from, to)
	if err != nil || moved.Closed == nil || moved.Closed.Outcome != runbook.Remediated {
		t.Fatalf("%+v, %v", moved, err)
	}
	if here := load(t, from); here.MigratedTo != nil || here.Closed == nil || here.Closed.Outcome != runbook.Remediated {
		t.Errorf("the original: %+v", here.Closed)
	}
}

// TestMovedRunKeepsItsHashesAndGetsOtherSeals: entries stay what they were; the key of
// where they go seals them.
func TestMovedRunKeepsItsHashesAndGetsOtherSeals(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	begin(t, from)
	if _, err := migrate(from, to); err != nil {
		t.Fatal(err)
	}
	before, err := from.Read(ctx, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	after, err := to.Read(ctx, "run-1")
	if err != nil || len(after) != len(before)+1 {
		t.Fatal(len(after), err)
	}
	for i := range before {
		_, entryBefore, _ := strings.Cut(string(before[i]), `"entry":`)
		_, entryAfter, _ := strings.Cut(string(after[i]), `"entry":`)
		if entryBefore != entryAfter || string(before[i]) == string(after[i]) {
			t.Errorf("line %d was\n%s and is\n%s", i+1, before[i], after[i])
		}
	}
	here, there := load(t, from), load(t, to)
	if went := here.MigratedTo; went == nil || *went != (journal.Destination{Where: "to", ID: "to"}) {
		t.Errorf("it went to %+v", went)
	}
	if last := there.Entries[len(there.Entries)-1]; last.Kind != journal.Arrived ||
		!strings.Contains(string(last.Data), `"id":"from"`) {
		t.Errorf("the last entry there is %+v", last)
	}
}
