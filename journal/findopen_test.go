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

// TestFindOpenBelievesTheLease: as far as its seal reaches; where it doesn't, all
// records are looked at.
func TestFindOpenBelievesTheLease(t *testing.T) {
	for name, row := range map[string]struct {
		// spoil changes what is there before it is asked for.
		spoil func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun
		// open says that run-1 is found, else refused is how it fails; both empty:
		// nothing is open.
		open    bool
		refused func(error) bool
	}{
		"what it names": {func(_ *testing.T, _ *journal.File, known *journal.OpenRun) *journal.OpenRun { return known },
			true, nil},
		"no name": {func(*testing.T, *journal.File, *journal.OpenRun) *journal.OpenRun { return nil }, true, nil},
		"open elsewhere": {func(_ *testing.T, _ *journal.File, known *journal.OpenRun) *journal.OpenRun {
			known.Location = "the cluster"
			return known
		}, false, isA[*journal.ElsewhereError]},
		"closed elsewhere": {func(_ *testing.T, _ *journal.File, known *journal.OpenRun) *journal.OpenRun {
			known.Location, known.Closed = "the cluster", true
			return known
		}, true, nil},
		"no key for an open run": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			removeKey(t, store)
			return known
		}, false, isA[*journal.KeyError]},
		"no key for a closed run": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			removeKey(t, store)
			known.Closed = true
			return known
		}, false, nil},
		"another key for an open run": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			removeKey(t, store)
			if _, err := store.MakeKey(ctx, "lamp-off"); err != nil {
				t.Fatal(err)
			}
			return known
		}, false, isA[*journal.UnsealedError]},
		"a key that others may read": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			if err := os.Chmod(filepath.Join(store.Dir(), "key"), 0o644); err != nil {
				t.Fatal(err)
			}
			return known
		}, false, isA[*journal.KeyError]},
		"a record that is lost": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			if err := store.Delete(ctx, "run-1"); err != nil {
				t.Fatal(err)
			}
			return known
		}, false, isA[*journal.LostRecordError]},
		"a record that was emptied": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			if err := os.Truncate(recordOf(store), 0); err != nil {
				t.Fatal(err)
			}
			return known
		}, false, isA[*journal.LostRecordError]},
		"a record that is broken": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			spoilLine(t, recordOf(store), 1, "intent", "intend")
			return known
		}, false, isA[*journal.BrokenError]},
		"a record that was cut": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			cut(t, recordOf(store))
			return known
		}, false, isA[*journal.BrokenError]},
		"a record that was closed since": {func(t *testing.T, store *journal.File, known *journal.OpenRun) *journal.OpenRun {
			record, err := journal.Load(ctx, store, "run-1")
			if err := errors.Join(err, record.Reopen(journal.NoLease(9), now),
				record.Append(ctx, journal.Closed, "", journal.Verdict{})); err != nil {
				t.Fatal(err)
			}
			return known
		}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			store, _ := underLease(t)
			peeked, err := store.Peek(ctx, "lamp/1")
			if err != nil {
				t.Fatal(err)
			}
			found, err := journal.FindOpen(ctx, store, "lamp/1", row.spoil(t, store, peeked.Open))
			switch {
			case row.refused != nil && !row.refused(err), row.refused == nil && err != nil:
				t.Errorf("got %v", err)
			case (found.Record != nil) != row.open:
				t.Errorf("found %+v", found)
			case err != nil && !strings.Contains(err.Error(), "run-1") && !isA[*journal.KeyError](err):
				t.Errorf("it does not name the run: %v", err)
			}
		})
	}
}

func isA[T error](err error) bool {
	var wanted T
	return errors.As(err, &wanted)
}

func recordOf(store *journal.File) string {
	return filepath.Join(store.Dir(), "runs", "run-1", "journal.jsonl")
}

func removeKey(t *testing.T, store *journal.File) {
	t.Helper()
	if err := os.Remove(filepath.Join(store.Dir(), "key")); err != nil {
		t.Fatal(err)
	}
}

// TestFindOpenAsksNoFurtherThanAClosedRun: when the lease vouches for it, no record is
// read at all.
func TestFindOpenAsksNoFurtherThanAClosedRun(t *testing.T) {
	s := newScene(t)
	if err := s.record.Append(ctx, journal.Closed, "", journal.Verdict{}); err != nil {
		t.Fatal(err)
	}
	counted := &reads{Store: s.store.Store}
	found, err := journal.FindOpen(ctx, counted, "lamp/1", s.lease.OpenRun())
	if err != nil || found.Record != nil || found.Epoch != s.lease.Epoch() || counted.whole > 0 {
		t.Errorf("found %+v, %v after %d readings", found, err, counted.whole)
	}
}

// TestFindOpenLooksAtAllRecords: for the newest open one of this target.
func TestFindOpenLooksAtAllRecords(t *testing.T) {
	store := journal.NewMemory()
	for _, run := range []struct {
		name, target string
		epoch        int64
		closed       bool
	}{{"run-1", "lamp/1", 3, false}, {"run-2", "lamp/1", 5, false}, {"run-3", "lamp/2", 9, false},
		{"run-4", "lamp/1", 7, true}} {
		header := journal.Header{Run: run.name, Runbook: "mend", Target: runbook.Target{ID: run.target}}
		record, err := journal.Create(ctx, store, journal.NoLease(run.epoch), now, header)
		if err == nil && run.closed {
			err = record.Append(ctx, journal.Closed, "", journal.Verdict{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	found, err := journal.FindOpen(ctx, store, "lamp/1", nil)
	if err != nil || found.Record == nil || found.Record.Run != "run-2" || found.Epoch != 7 {
		t.Errorf("found %+v, %v", found, err)
	}
	// The lease of another target names nothing here.
	found, err = journal.FindOpen(ctx, store, "lamp/1",
		&journal.OpenRun{Target: "lamp/2", Run: "run-3", Location: "memory"})
	if err != nil || found.Record == nil || found.Record.Run != "run-2" {
		t.Errorf("found %+v, %v", found, err)
	}
	if found, err := journal.FindOpen(ctx, store, "lamp/9", nil); err != nil || found.Record != nil || found.Epoch != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestFindOpenFollowsAMigration: a run that left is open where it went.
func TestFindOpenFollowsAMigration(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	begin(t, from)
	if _, err := migrate(from, to); err != nil {
		t.Fatal(err)
	}
	var elsewhere *journal.ElsewhereError
	_, err := journal.FindOpen(ctx, from, "lamp/1", nil)
	want := journal.OpenRun{Target: "lamp/1", Run: "run-1", Runbook: "mend", Location: "to"}
	if !errors.As(err, &elsewhere) || elsewhere.Open != want {
		t.Errorf("got %v: %+v", err, elsewhere)
	}
	if found, err := journal.FindOpen(ctx, to, "lamp/1", nil); err != nil || found.Record == nil {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestForgetNamesTheRunAsClosed: under a seal where there is a key, and for the run
// that the lease names alone.
func TestForgetNamesTheRunAsClosed(t *testing.T) {
	s := newScene(t)
	if err := journal.Forget(ctx, s.store, s.lease, "run-9"); apierr.ClassOf(err) != apierr.Missing || err == nil {
		t.Errorf("a run that it doesn't name: %v", err)
	}
	if err := s.store.Store.(*journal.Memory).Delete(ctx, "run-1"); err != nil {
		t.Fatal(err)
	}
	if err := journal.Forget(ctx, s.store, s.lease, "run-1"); err != nil {
		t.Fatal(err)
	}
	named := s.lease.OpenRun()
	counted := &reads{Store: s.store.Store}
	found, err := journal.FindOpen(ctx, counted, "lamp/1", named)
	if err != nil || found.Record != nil || !named.Closed || named.Epoch != s.lease.Epoch() || counted.whole > 0 {
		t.Errorf("named %+v, found %+v, %v after %d readings", named, found, err, counted.whole)
	}
}

// keyless has no keys.
type keyless struct{ journal.Store }

func (keyless) Key(_ context.Context, runbook string) (journal.Key, error) {
	return journal.Key{}, &journal.KeyError{Runbook: runbook, Where: "nowhere", Err: errors.New("forbidden")}
}

// TestForgetWithoutAKeyForgesNothing: the lease is not sealed, so that all records are
// looked at.
func TestForgetWithoutAKeyForgesNothing(t *testing.T) {
	s := newScene(t)
	if err := journal.Forget(ctx, keyless{s.store}, s.lease, "run-1"); err != nil {
		t.Fatal(err)
	}
	found, err := journal.FindOpen(ctx, s.store, "lamp/1", s.lease.OpenRun())
	if err != nil || found.Record == nil || found.Record.Run != "run-1" || !s.lease.OpenRun().Closed {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestAdoptOverridesTheHeadAlone: not another run that is open, and not a newer epoch.
func TestAdoptOverridesTheHeadAlone(t *testing.T) {
	s := newScene(t)
	if err := s.lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	other, err := journal.Load(ctx, s.store, "run-0")
	if err != nil {
		t.Fatal(err)
	}
	lease := locked(t, s.store)
	err = other.Adopt(ctx, lease, now)
	if apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), "salve runs abandon run-1") {
		t.Errorf("while the lease names another open run: %v", err)
	}
	err = s.record.Adopt(ctx, journal.NoLease(1), now)
	if apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), "last written under epoch 1") {
		t.Errorf("under an old epoch: %v", err)
	}
	if err := journal.Forget(ctx, s.store, lease, "run-1"); err != nil {
		t.Fatal(err)
	}
	if err := other.Adopt(ctx, lease, now); err != nil {
		t.Fatalf("after the other was forgotten: %v", err)
	}
	if named := lease.OpenRun(); named.Run != "run-0" || named.Seq != len(other.Entries) {
		t.Errorf("the lease names %+v", named)
	}
}
