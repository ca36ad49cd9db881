package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// TestRecordWithoutItsKeyIsUnverified, and not broken: nothing was seen to be wrong with it. What it says can be shown;
// a record that is opened is one that was verified.
func TestRecordWithoutItsKeyIsUnverified(t *testing.T) {
	folder := t.TempDir()
	key := filepath.Join(folder, "key")
	store := journal.NewFileWithKey(folder, key)
	_, err := journal.Create(ctx, store, locked(t, store), now,
		journal.Header{Run: "run-1", Runbook: "lamp-off", Target: runbook.Target{ID: "lamp/1"}})
	if err == nil {
		err = os.Rename(key, key+".elsewhere")
	}
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Load(ctx, journal.NewFileWithKey(folder, key), "run-1")
	var unverified *journal.UnverifiedError
	var missing *journal.KeyError
	if record != nil || !errors.As(err, &unverified) || !errors.As(err, &missing) ||
		unverified.History.Header.Runbook != "lamp-off" {
		t.Fatalf("got %v, %v", record, err)
	}
	line := filepath.Join(folder, "runs", "run-1", "journal.jsonl")
	raw, err := os.ReadFile(line)
	if err == nil {
		err = os.WriteFile(line, []byte("{}"+string(raw)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if _, err := journal.Load(ctx, journal.NewFileWithKey(folder, key), "run-1"); !errors.As(err, &broken) {
		t.Errorf("what is wrong without any key is broken: %v", err)
	}
}
