package journal_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// leave leaves a run on a target, open or closed.
func leave(t *testing.T, store journal.Store, run, target string, closed bool) {
	t.Helper()
	lease, err := store.Lock(ctx, journal.Claim{Target: target, Holder: journal.Holder{Run: run}})
	if err != nil {
		t.Fatal(err)
	}
	header := journal.Header{Run: run, Runbook: "lamp-off", Target: runbook.Target{ID: target}}
	record, err := journal.Create(ctx, store, lease, now, header)
	if err != nil {
		t.Fatal(err)
	}
	if closed {
		err = record.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated})
	}
	if err := lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLeasesNameTheOpenRuns: those that are open, each target's newest, and no record is read for it.
func TestLeasesNameTheOpenRuns(t *testing.T) {
	for name, store := range map[string]journal.Store{
		"memory": journal.NewMemory(), "folder": journal.NewFile(t.TempDir()),
	} {
		t.Run(name, func(t *testing.T) {
			if open, err := store.OpenRuns(ctx); err != nil || len(open) != 0 {
				t.Fatalf("of none: %v, %v", open, err)
			}
			leave(t, store, "run-1", "lamp/1", true)
			leave(t, store, "run-2", "lamp/2", false)
			leave(t, store, "run-3", "lamp/3", true)
			leave(t, store, "run-4", "lamp/4", false)
			for _, run := range []string{"run-2", "run-4"} {
				if err := store.Delete(ctx, run); err != nil {
					t.Fatal(err)
				}
			}
			if got := openRuns(t, store); !slices.Equal(got, []string{"run-2 on lamp/2", "run-4 on lamp/4"}) {
				t.Errorf("open are %v", got)
			}
		})
	}
}

// TestSeveralLockersNameARunOnce: the lease of the world and that of this machine name the same run.
func TestSeveralLockersNameARunOnce(t *testing.T) {
	world, here := journal.NewMemory(), journal.NewMemory()
	leave(t, world, "run-1", "lamp/1", false)
	leave(t, here, "run-1", "lamp/1", false)
	leave(t, here, "run-2", "lamp/2", false)
	got := openRuns(t, journal.Lockers{world, here})
	if !slices.Equal(got, []string{"run-1 on lamp/1", "run-2 on lamp/2"}) {
		t.Errorf("open are %v", got)
	}
}

// TestNewestFirst: as far as it is wanted; what can't be read is named, and what is
// empty is nothing.
func TestNewestFirst(t *testing.T) {
	store := journal.NewMemory()
	for _, run := range []string{"run-1", "run-2", "run-3", "run-5"} {
		leave(t, store, run, "lamp/1", true)
	}
	if err := store.Create(ctx, "run-6"); err != nil {
		t.Fatal(err)
	}
	if err := store.Append(ctx, "run-5", 3, []byte("garbage\n")); err != nil {
		t.Fatal(err)
	}
	var seen []string
	err := journal.NewestFirst(ctx, store, func(record *journal.Record) bool {
		seen = append(seen, record.Run)
		return record.Run != "run-2"
	}, func(run string, err error) {
		seen = append(seen, fmt.Sprintf("%s: %t", run, isA[*journal.BrokenError](err)))
	})
	if err != nil || !slices.Equal(seen, []string{"run-5: true", "run-3", "run-2"}) {
		t.Errorf("saw %v, %v", seen, err)
	}
}

func openRuns(t *testing.T, locker journal.Locker) (names []string) {
	t.Helper()
	open, err := locker.OpenRuns(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range open {
		names = append(names, fmt.Sprintf("%s on %s", one.Run, one.Target))
	}
	slices.Sort(names)
	return names
}
