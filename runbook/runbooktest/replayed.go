package runbooktest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
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
		verify(t, record.History, book)
	}
}

func verify(t testing.TB, history *journal.History, book runbook.Runbook) {
	t.Helper()
	if err := replay.Verify(history, book); err != nil {
		t.Error(err)
	}
}

// replayedBy makes the decisions of a run again with the runbook that made them: the one that has the record's inputs.
// A runbook with a guard that decides while it reads has nothing to be replayed.
func replayedBy(t testing.TB, history *journal.History, books []runbook.Runbook) {
	t.Helper()
	for _, book := range slices.Backward(books) {
		for _, guards := range guardsOf([]runbook.Runbook{book}) {
			if slices.ContainsFunc(guards, func(guard runbook.Guard) bool { return !guard.Recorded() }) {
				return
			}
		}
		raw, err := json.Marshal(book.Inputs)
		if err == nil && (book.Inputs == nil || bytes.Equal(raw, history.Header.Inputs)) {
			verify(t, history, book)
			return
		}
	}
	t.Errorf("no runbook that was started has the inputs of run %s", history.Header.Run)
}
