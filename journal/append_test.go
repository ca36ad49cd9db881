package journal_test

import (
	"context"
	"errors"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// TestAppendWithoutTheLeaseFails: as lease lost, and the head is not touched.
func TestAppendWithoutTheLeaseFails(t *testing.T) {
	store := journal.NewMemory()
	lease := locked(t, store)
	record, err := journal.Create(ctx, store, lease, now,
		journal.Header{Run: "run-1", Runbook: "x", Target: runbook.Target{ID: "lamp/1"}})
	if err != nil {
		t.Fatal(err)
	}
	store.Expire("lamp/1")
	locked(t, store)
	err = record.Append(ctx, journal.Intended, "a", journal.Intent{Attempt: 1})
	var gone *journal.LostError
	var unwritten *journal.WriteError
	if !errors.As(err, &gone) || !errors.As(err, &unwritten) || apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("got %v", err)
	}
	if again := record.Append(ctx, journal.Warned, "", journal.Message{}); again == nil {
		t.Error("it is written again")
	}
	if peeked, err := store.Peek(ctx, "lamp/1"); err != nil || peeked.Open.Seq != 1 {
		t.Errorf("the head was moved: %+v, %v", peeked.Open, err)
	}
}

// TestLowerEpochWritesNothing: a lease whose memory was lost is no fence.
func TestLowerEpochWritesNothing(t *testing.T) {
	backend, _ := written(t)
	record, err := journal.Load(ctx, backend, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Reopen(journal.NoLease(7), now); apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("under the epoch that wrote it last: %v", err)
	}
}

// failing fails one write.
type failing struct {
	journal.Store
	fail bool
}

func (f *failing) Append(ctx context.Context, run string, seq int, line []byte) error {
	if f.fail {
		f.fail = false
		return errors.New("no space left on device")
	}
	return f.Store.Append(ctx, run, seq, line)
}

// TestAfterAFailedWriteNothingIsWritten: it is not known what of it is there.
func TestAfterAFailedWriteNothingIsWritten(t *testing.T) {
	store := &failing{Store: journal.NewMemory()}
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "x"})
	if err != nil {
		t.Fatal(err)
	}
	store.fail = true
	var unwritten *journal.WriteError
	for range 2 {
		err := record.Append(ctx, journal.Warned, "", journal.Message{})
		if !errors.As(err, &unwritten) || unwritten.Seq != 2 {
			t.Errorf("got %v", err)
		}
	}
}
