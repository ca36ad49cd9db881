package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// TestRecordThatWasCutIsBroken: also at the end of a line, where its chain is whole.
func TestRecordThatWasCutIsBroken(t *testing.T) {
	store, file := underLease(t)
	cut(t, file)
	record, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err) // its chain and its seals are whole
	}
	lease := locked(t, store)
	var broken *journal.BrokenError
	if err := record.Reopen(lease, now); !errors.As(err, &broken) {
		t.Errorf("it is resumed: %v", err)
	}
	if _, err := journal.FindOpen(ctx, store, "lamp/1", lease.OpenRun()); !errors.As(err, &broken) {
		t.Errorf("it is found: %v", err)
	}
}

// TestRecordCutToBeforeItsIntentsNeedsItsHead: with the head taken away too, what is left looks like a run that has
// announced nothing, and resuming it would do again what it did.
func TestRecordCutToBeforeItsIntentsNeedsItsHead(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	lease := locked(t, store)
	header := journal.Header{Run: "run-1", Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/1"}}
	record, err := journal.Create(ctx, store, lease, now, header)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(record.Append(ctx, journal.Noted, "", journal.Note{Name: "n", Value: []byte(`1`)}),
		record.Append(ctx, journal.Intended, "a", journal.Intent{Attempt: 1, Irreversible: true}), lease.Release(ctx),
		os.RemoveAll(filepath.Join(store.Dir(), "leases")))
	if err != nil {
		t.Fatal(err)
	}
	cut(t, filepath.Join(store.Dir(), "runs", "run-1", "journal.jsonl"))
	left := mustLoad(t, store)
	if left.Changed() {
		t.Fatal("its intent is still there")
	}
	again, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Above: 9})
	if err != nil {
		t.Fatal(err)
	}
	var headless *journal.HeadError
	if err := left.Reopen(again, now); !errors.As(err, &headless) {
		t.Errorf("it is resumed: %v", err)
	}
}

// TestLeaseKnowsThatARecordWasCut, also where it is only read: but not of a copy, nor of a run that it does not name.
func TestLeaseKnowsThatARecordWasCut(t *testing.T) {
	store, file := underLease(t)
	whole := mustLoad(t, store)
	if err := whole.VerifyWhole(ctx, store); err != nil {
		t.Errorf("whole: %v", err)
	}
	cut(t, file)
	shorter := mustLoad(t, store)
	var broken *journal.BrokenError
	if err := shorter.VerifyWhole(ctx, store); !errors.As(err, &broken) ||
		!strings.Contains(err.Error(), "the lease knows 3 entries: the record was cut, or an older copy was put back") {
		t.Errorf("cut: %v", err)
	}
	if err := shorter.VerifyWhole(ctx, journal.NewMemory()); err != nil {
		t.Errorf("without a lease that knows it: %v", err)
	}
	copied := journal.NewFile(t.TempDir())
	if err := os.CopyFS(copied.Dir(), os.DirFS(store.Dir())); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(copied.Dir(), "key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mustLoad(t, copied).VerifyWhole(ctx, copied); err != nil {
		t.Errorf("a copy: %v", err)
	}
}

// TestRunThatGoesOnIsNotCalledCut: its lease knows of entries that were added since the record was read.
func TestRunThatGoesOnIsNotCalledCut(t *testing.T) {
	store, _ := underLease(t)
	seen, record := mustLoad(t, store), mustLoad(t, store)
	if err := record.Reopen(locked(t, store), now); err != nil {
		t.Fatal(err)
	}
	if err := record.Append(ctx, journal.Resumed, "", journal.Resumption{}); err != nil {
		t.Fatal(err)
	}
	if err := seen.VerifyWhole(ctx, store); err != nil {
		t.Error(err)
	}
}
