package journal_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// TestPruneKeepsOpenRuns: whatever is asked for, an open run stays, and so does one
// that its lease names.
func TestPruneKeepsOpenRuns(t *testing.T) {
	store := journal.NewMemory()
	for n := range 4 {
		header := journal.Header{Run: fmt.Sprint("run-", n), Runbook: "x", Target: runbook.Target{ID: "lamp/2"}}
		record, err := journal.Create(ctx, store, journal.NoLease(1), now, header)
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			continue // open
		}
		if err := record.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated}); err != nil {
			t.Fatal(err)
		}
	}
	lease, err := store.Lock(ctx, journal.Claim{Target: "lamp/2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.SetOpenRun(ctx, journal.OpenRun{Target: "lamp/2", Run: "run-0"}); err != nil {
		t.Fatal(err)
	}
	pruned, err := journal.Prune(ctx, store, journal.Retention{Keep: 1, Since: now().AddDate(1, 0, 0), Broken: true})
	slices.Sort(pruned)
	if want := []string{"run-2", "run-3"}; err != nil || !slices.Equal(pruned, want) {
		t.Errorf("pruned %v, want %v: %v", pruned, want, err)
	}
}

// TestPruneRemovesExports: what deleted objects held goes with the run.
func TestPruneRemovesExports(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "x", Target: runbook.Target{ID: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(record.PutExport(ctx, "bundle", []byte("x")), record.Append(ctx, journal.Closed, "", journal.Verdict{}))
	if err != nil {
		t.Fatal(err)
	}
	export := record.Exports()[0]
	if pruned, err := journal.Prune(ctx, store, journal.Retention{Since: now().AddDate(1, 0, 0)}); err != nil || len(pruned) != 1 {
		t.Fatal(pruned, err)
	}
	var missing *journal.MissingError
	if _, err := store.Export(ctx, "run-1", export.Name+"."+export.Sum[:16]); !errors.As(err, &missing) {
		t.Errorf("the export is still there: %v", err)
	}
}
