package runbooktest

import (
	"context"
	"testing"

	"salve/internal/report/replay"
	"salve/journal"
	"salve/runbook"
)

// Replayed makes every decision of a journal's runs again, from the record alone, and fails the test when one does not
// come out equal to the byte. Runs of other runbooks, and records that can't be read, are left alone. Decides makes the
// runbook of a record without a world.
func Replayed(t testing.TB, kept journal.Backend, name string,
	decides func(*journal.History) (runbook.Runbook, error)) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	runs, err := kept.Runs(ctx)
	if err != nil {
		return // the test took the journal away
	}
	for _, run := range runs {
		record, err := journal.Load(ctx, kept, run)
		if err != nil || len(record.Entries) == 0 || record.Header.Runbook != name {
			continue
		}
		book, err := decides(record.History)
		if err != nil {
			t.Errorf("making %s of run %s without a world: %v", name, run, err)
			continue
		}
		if err := replay.Verify(record.History, book); err != nil {
			t.Error(err)
		}
	}
}
