package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// locked takes the lease on lamp/1.
func locked(t *testing.T, store journal.Locker) journal.Lease {
	t.Helper()
	lease, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Release(ctx) })
	return lease
}

// underLease makes a record with an intent and its outcome under a lease, which it
// releases.
func underLease(t *testing.T) (store *journal.File, file string) {
	t.Helper()
	store = journal.NewFile(t.TempDir())
	lease := locked(t, store)
	header := journal.Header{Run: "run-1", Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/1"}}
	record, err := journal.Create(ctx, store, lease, now, header)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []journal.Pending{
		{Kind: journal.Intended, Step: "a", Data: journal.Intent{Attempt: 1}},
		{Kind: journal.Outcome, Step: "a", Data: journal.Result{Attempt: 1, Result: journal.Done}},
	} {
		if err := record.AppendAll(ctx, one); err != nil {
			t.Fatal(err)
		}
	}
	if err := lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	return store, filepath.Join(store.Dir(), "runs", "run-1", "journal.jsonl")
}

// cut takes the last line off a record.
func cut(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.SplitAfter(raw, []byte("\n"))
	if err := os.WriteFile(file, bytes.Join(kept[:len(kept)-2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLeaseNamesTheOpenRun(t *testing.T) {
	store, _ := underLease(t)
	peeked, err := store.Peek(ctx, "lamp/1")
	if err != nil || peeked.Holder != nil || peeked.Open == nil || peeked.Open.Run != "run-1" || peeked.Open.Seq != 3 {
		t.Fatalf("peeked %+v, %v", peeked, err)
	}
	found, err := journal.FindOpen(ctx, store, "lamp/1", peeked.Open)
	if err != nil || found.Record == nil || found.Record.Run != "run-1" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestRecordThatIsLongerThanTheHeadIsWhole: the process died between both writes.
func TestRecordThatIsLongerThanTheHeadIsWhole(t *testing.T) {
	store, _ := underLease(t)
	leases, err := filepath.Glob(filepath.Join(store.Dir(), "leases", "*.json"))
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	older, err := os.ReadFile(leases[0])
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	lease := locked(t, store)
	if err := errors.Join(record.Reopen(lease, now), record.Append(ctx, journal.Resumed, "", journal.Resumption{}),
		lease.Release(ctx)); err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(older, &state); err != nil {
		t.Fatal(err)
	}
	state["epoch"] = lease.Epoch() // the epoch is written with the lock, the head later
	raw, err := json.Marshal(state)
	if err := errors.Join(err, os.WriteFile(leases[0], raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	again, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Reopen(locked(t, store), now); err != nil {
		t.Error(err)
	}
}

// TestLeaseWithoutAHeadVouchesForNothing: somebody removed what the lease knew. A
// record that announced changes is not resumed until an operator has looked at it.
func TestLeaseWithoutAHeadVouchesForNothing(t *testing.T) {
	store, _ := underLease(t)
	if err := os.RemoveAll(filepath.Join(store.Dir(), "leases")); err != nil {
		t.Fatal(err)
	}
	lease, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Above: 9})
	if err != nil {
		t.Fatal(err)
	}
	found, err := journal.FindOpen(ctx, store, "lamp/1", lease.OpenRun())
	if err != nil || found.Record == nil {
		t.Fatalf("the open run is hidden: %+v, %v", found, err)
	}
	var headless *journal.HeadError
	if err := found.Record.Reopen(lease, now); !errors.As(err, &headless) {
		t.Errorf("it is resumed: %v", err)
	}
	if err := found.Record.Adopt(ctx, lease, now); err != nil {
		t.Errorf("an operator can't adopt it: %v", err)
	}
}

// TestRunThatNeverBeganNeedsNoHead: its process died before the lease named it, and so did the one that resumed it.
func TestRunThatNeverBeganNeedsNoHead(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	lease := locked(t, store)
	header := journal.Header{Run: "run-1", Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/1"}}
	record, err := journal.Create(ctx, store, lease, now, header)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(record.Append(ctx, journal.Resumed, "", journal.Resumption{}), lease.Release(ctx),
		os.RemoveAll(filepath.Join(store.Dir(), "leases")))
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Above: 9})
	if err != nil {
		t.Fatal(err)
	}
	if err := mustLoad(t, store).Reopen(again, now); err != nil {
		t.Errorf("it can't be resumed: %v", err)
	}
}

// TestEditedLeaseIsNotBelieved: without the key nobody can name a run, or hide one.
func TestEditedLeaseIsNotBelieved(t *testing.T) {
	store, _ := underLease(t)
	for name, edit := range map[string]func(*journal.OpenRun){
		"said to be closed":    func(o *journal.OpenRun) { o.Closed = true },
		"said to be shorter":   func(o *journal.OpenRun) { o.Seq = 1 },
		"of another target":    func(o *journal.OpenRun) { o.Target = "lamp/2" },
		"of another run":       func(o *journal.OpenRun) { o.Run = "run-9" },
		"of another runbook's": func(o *journal.OpenRun) { o.Runbook = "other" },
		"of no name, elsewhere": func(o *journal.OpenRun) {
			o.Run, o.Location = "no run; rm -rf", "elsewhere"
		},
	} {
		t.Run(name, func(t *testing.T) {
			lease := locked(t, store)
			edited := *lease.OpenRun()
			edit(&edited)
			found, err := journal.FindOpen(ctx, store, "lamp/1", &edited)
			if err != nil || found.Record == nil || found.Record.Run != "run-1" {
				t.Errorf("the open run is hidden: %+v, %v", found, err)
			}
			_ = lease.Release(ctx)
		})
	}
}

// TestLostRecordIsRecognized: only the lease still knows of the run.
func TestLostRecordIsRecognized(t *testing.T) {
	store, _ := underLease(t)
	if err := store.Delete(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	lease := locked(t, store)
	var lostRecord *journal.LostRecordError
	_, err := journal.FindOpen(ctx, store, "lamp/1", lease.OpenRun())
	if !errors.As(err, &lostRecord) || lostRecord.Open.Run != "run-1" || lostRecord.Open.Seq != 3 {
		t.Fatalf("got %v", err)
	}
	if err := journal.Forget(ctx, store, lease, "run-1"); err != nil {
		t.Fatal(err)
	}
	if found, err := journal.FindOpen(ctx, store, "lamp/1", lease.OpenRun()); err != nil || found.Record != nil {
		t.Errorf("after it was given up: %+v, %v", found, err)
	}
}

// TestRunThatIsOpenElsewhereIsInTheWay: its lease is the world's, wherever its record
// is kept.
func TestRunThatIsOpenElsewhereIsInTheWay(t *testing.T) {
	store, _ := underLease(t)
	lease := locked(t, store)
	var elsewhere *journal.ElsewhereError
	_, err := journal.FindOpen(ctx, journal.NewFile(t.TempDir()), "lamp/1", lease.OpenRun())
	if !errors.As(err, &elsewhere) {
		t.Errorf("got %v", err)
	}
}

// TestSeveralTargetsAreTakenTogether: or none of them.
func TestSeveralTargetsAreTakenTogether(t *testing.T) {
	store := journal.NewMemory()
	taken, err := store.Lock(ctx, journal.Claim{Target: "c"})
	if err != nil {
		t.Fatal(err)
	}
	claims := []journal.Claim{{Target: "b"}, {Target: "c"}, {Target: "a"}}
	var held *journal.HeldError
	if _, err := journal.LockAll(ctx, store, claims...); !errors.As(err, &held) || held.Target != "c" {
		t.Fatalf("got %v", err)
	}
	if err := taken.Release(ctx); err != nil {
		t.Fatal(err)
	}
	all, err := journal.LockAll(ctx, store, claims...)
	if err != nil {
		t.Fatalf("those that were taken before were not released: %v", err)
	}
	if err := all.SetOpenRun(ctx, journal.OpenRun{Target: "b", Run: "run-1"}); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"a": false, "b": true, "c": false} {
		if peeked, err := store.Peek(ctx, target); err != nil || (peeked.Open != nil) != want {
			t.Errorf("the lease on %s names %+v, %v", target, peeked.Open, err)
		}
	}
}

// TestRecordWithAnotherPastIsBroken: as long as the head, sealed, and not the one that
// the lease knows.
func TestRecordWithAnotherPastIsBroken(t *testing.T) {
	store, file := underLease(t)
	cut(t, file)
	other, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(other.Reopen(journal.NoLease(9), now),
		other.Append(ctx, journal.Warned, "", journal.Message{Text: "another past"}))
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Above: 9})
	if err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if err := record.Reopen(lease, now); !errors.As(err, &broken) {
		t.Errorf("it is resumed: %v", err)
	}
}

// TestEditedHeadVouchesForNothing: who can write leases can't shorten a record.
func TestEditedHeadVouchesForNothing(t *testing.T) {
	store, file := underLease(t)
	lease := locked(t, store)
	edited := *lease.OpenRun()
	edited.Seq = 0
	if err := lease.SetOpenRun(ctx, edited); err != nil {
		t.Fatal(err)
	}
	cut(t, file)
	record, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	var headless *journal.HeadError
	if err := record.Reopen(lease, now); !errors.As(err, &headless) {
		t.Errorf("it is resumed: %v", err)
	}
}

// editLease changes the one lease's file.
func editLease(t *testing.T, store *journal.File, edit func(string) string) {
	t.Helper()
	leases, err := filepath.Glob(filepath.Join(store.Dir(), "leases", "*.json"))
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	raw, err := os.ReadFile(leases[0])
	if err != nil {
		t.Fatal(err)
	}
	edited := edit(string(raw))
	if edited == string(raw) {
		t.Fatalf("nothing was edited in %s", raw)
	}
	if err := os.WriteFile(leases[0], []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
}
