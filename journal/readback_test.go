package journal_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"salve/journal"
)

// TestReadBackReadsOneLine: and believes no other than the one that was written.
func TestReadBackReadsOneLine(t *testing.T) {
	store, file := underLease(t)
	counted := &reads{Store: store}
	lease := locked(t, store)
	record, err := journal.Load(ctx, counted, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(record.Reopen(lease, now),
		record.Append(ctx, journal.Noted, "", journal.Note{Name: "size", Value: []byte("3")})); err != nil {
		t.Fatal(err)
	}
	counted.whole = 0
	var size int
	for range 3 {
		if found, err := record.ReadBack(ctx, "size", &size); !found || err != nil || size != 3 {
			t.Fatalf("size %d, %v", size, err)
		}
	}
	if counted.whole > 0 {
		t.Errorf("the whole record was read %d times", counted.whole)
	}
	raw, err := os.ReadFile(file)
	if err := errors.Join(err, os.WriteFile(file, bytes.Replace(raw, []byte(`"value":3`), []byte(`"value":4`), 1), 0o600)); err != nil {
		t.Fatal(err)
	}
	var broken *journal.BrokenError
	if _, err := record.ReadBack(ctx, "size", &size); !errors.As(err, &broken) {
		t.Errorf("an edited note was believed: %v", err)
	}
}

// reads counts readings of whole records.
type reads struct {
	journal.Store
	whole int
}

func (r *reads) Read(ctx context.Context, run string) ([][]byte, error) {
	r.whole++
	return r.Store.Read(ctx, run)
}
