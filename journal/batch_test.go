package journal_test

import (
	"os"
	"strings"
	"testing"

	"salve/journal"
)

// TestSeveralEntriesAtOnce: they are one chain with what was there, and a cut
// anywhere in them leaves the first ones.
func TestSeveralEntriesAtOnce(t *testing.T) {
	backend, path := written(t)
	record, err := journal.Load(ctx, &journal.Location{Backend: backend}, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Reopen(journal.NoLease(8), now); err != nil {
		t.Fatal(err)
	}
	err = record.AppendAll(ctx,
		journal.Pending{Kind: journal.Intended, Step: "b", Data: journal.Intent{Attempt: 1}},
		journal.Pending{Kind: journal.Intended, Step: "c", Data: journal.Intent{Attempt: 1}},
		journal.Pending{Kind: journal.Outcome, Step: "b", Data: journal.Result{Result: journal.Done}})
	if err != nil {
		t.Fatal(err)
	}
	read, err := journal.Load(ctx, backend, "run-1")
	if err != nil || len(read.Entries) != 7 || !read.Step("b").Finished() || !read.Step("c").Open {
		t.Fatalf("%v: %+v", err, read)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndex(strings.TrimSuffix(string(raw), "\n"), "\n")
	if err := os.WriteFile(path, raw[:last+30], 0o600); err != nil {
		t.Fatal(err)
	}
	if read, err = journal.Load(ctx, backend, "run-1"); err != nil || len(read.Entries) != 6 || !read.Step("b").Open {
		t.Errorf("after a cut: %v: %+v", err, read)
	}
}
