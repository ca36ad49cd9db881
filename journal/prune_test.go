package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
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
	record, err := journal.Create(ctx, store, journal.NoLease(1), now,
		journal.Header{Run: "run-1", Runbook: "x", Target: runbook.Target{ID: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(record.PutExport(ctx, "bundle", []byte("x")),
		record.Append(ctx, journal.Closed, "", journal.Verdict{}))
	if err != nil {
		t.Fatal(err)
	}
	export := record.Exports()[0]
	if pruned, err := journal.Prune(ctx, store, journal.Retention{Since: now().AddDate(1, 0, 0)}); err != nil ||
		len(pruned) != 1 {
		t.Fatal(pruned, err)
	}
	var missing *journal.MissingError
	if _, err := store.Export(ctx, "run-1", export.Name+"."+export.Sum[:16]); !errors.As(err, &missing) {
		t.Errorf("the export is still there: %v", err)
	}
}

// ended makes a run that was closed some days after noon, or is open below zero.
func ended(t *testing.T, store journal.Store, run, target string, days int) {
	t.Helper()
	at := func() time.Time { return now().AddDate(0, 0, days) }
	header := journal.Header{Run: run, Runbook: "mend", Target: runbook.Target{ID: target}}
	record, err := journal.Create(ctx, store, journal.NoLease(1), at, header)
	if err == nil && days >= 0 {
		err = record.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRetention: the newest of each target, and the young ones, as they are asked for.
func TestRetention(t *testing.T) {
	for name, row := range map[string]struct {
		retention journal.Retention
		want      string
	}{
		"nothing is asked for":     {journal.Retention{}, ""},
		"the newest":               {journal.Retention{Keep: 1}, "a-1 a-2 b-1"},
		"the two newest":           {journal.Retention{Keep: 2}, "a-1"},
		"more than there are":      {journal.Retention{Keep: 9}, ""},
		"the young":                {journal.Retention{Since: now().AddDate(0, 0, 2)}, "a-1 b-1"},
		"the young, to the second": {journal.Retention{Since: now().AddDate(0, 0, 2).Add(time.Second)}, "a-1 a-2 b-1 b-2"},
		"both":                     {journal.Retention{Keep: 2, Since: now().AddDate(0, 0, 2)}, "a-1 b-1"},
	} {
		store := journal.NewMemory()
		for day := 1; day <= 3; day++ {
			ended(t, store, fmt.Sprint("a-", day), "lamp/a", day)
			if day < 3 {
				ended(t, store, fmt.Sprint("b-", day), "lamp/b", day)
			}
		}
		ended(t, store, "a-9", "lamp/a", -1)
		pruned, err := journal.Prune(ctx, store, row.retention)
		slices.Sort(pruned)
		if err != nil || strings.Join(pruned, " ") != row.want {
			t.Errorf("%s: pruned %v, %v", name, pruned, err)
		}
		left, err := store.Runs(ctx)
		if err != nil || len(left) != 6-len(pruned) {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}

// TestPruneKeepsWhatWentElsewhere: it says where to.
func TestPruneKeepsWhatWentElsewhere(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	begin(t, from)
	if _, err := migrate(from, to); err != nil {
		t.Fatal(err)
	}
	all := journal.Retention{Since: now().AddDate(1, 0, 0), Broken: true}
	if pruned, err := journal.Prune(ctx, from.Backend.(*journal.File), all); err != nil || len(pruned) != 0 {
		t.Errorf("pruned %v, %v", pruned, err)
	}
}

// TestPruneOfWhatCannotBeBelieved: when it is asked for, and no lease names it.
func TestPruneOfWhatCannotBeBelieved(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, store *journal.File){
		"broken": func(t *testing.T, store *journal.File) { spoilLine(t, recordOf(store), 1, "intent", "intend") },
		"unsealed": func(t *testing.T, store *journal.File) {
			rechained(t, recordOf(store), func(l []storedLine) []storedLine { l[0].Key = ""; return l })
		},
		"garbage": func(t *testing.T, store *journal.File) {
			if err := os.WriteFile(recordOf(store), []byte("hello\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, store *journal.File) {
			if err := os.Truncate(recordOf(store), 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			named, _ := underLease(t)
			spoil(t, named)
			broken := journal.Retention{Keep: 1, Since: now().AddDate(1, 0, 0), Broken: true}
			pruned, err := journal.Prune(ctx, named, broken)
			if err != nil || len(pruned) > 0 {
				t.Errorf("named by its lease: pruned %v, %v", pruned, err)
			}
			nobodys, _ := underLease(t)
			spoil(t, nobodys)
			if err := os.RemoveAll(filepath.Join(nobodys.Dir(), "leases")); err != nil {
				t.Fatal(err)
			}
			broken.Broken = false
			if pruned, err := journal.Prune(ctx, nobodys, broken); err != nil || len(pruned) != 0 {
				t.Errorf("not asked for: pruned %v, %v", pruned, err)
			}
			broken.Broken = true
			if pruned, err := journal.Prune(ctx, nobodys, broken); err != nil || len(pruned) != 1 {
				t.Errorf("pruned %v, %v", pruned, err)
			}
		})
	}
}

// peeking answers for leases.
type peeking struct {
	journal.Store
	peeked journal.Peeked
	err    error
}

func (p *peeking) Peek(context.Context, string) (journal.Peeked, error) { return p.peeked, p.err }

// TestPruneAsksTheLease: one that can't be read may name the run; one that is missing
// names none.
func TestPruneAsksTheLease(t *testing.T) {
	for name, row := range map[string]struct {
		asked  peeking
		pruned bool
	}{
		"none":          {peeking{}, true},
		"missing":       {peeking{err: apierr.New(apierr.Missing, "not found")}, true},
		"denied":        {peeking{err: apierr.New(apierr.Denied, "forbidden")}, false},
		"names the run": {peeking{peeked: journal.Peeked{Open: &journal.OpenRun{Run: "run-1"}}}, false},
		"names it as closed": {peeking{peeked: journal.Peeked{Open: &journal.OpenRun{Run: "run-1",
			Closed: true}}}, true},
		"names another":            {peeking{peeked: journal.Peeked{Open: &journal.OpenRun{Run: "run-2"}}}, true},
		"is held by somebody else": {peeking{peeked: journal.Peeked{Holder: &journal.Holder{Run: "run-1"}}}, true},
	} {
		row.asked.Store = journal.NewMemory()
		ended(t, row.asked.Store, "run-1", "lamp/1", 1)
		pruned, err := journal.Prune(ctx, &row.asked, journal.Retention{Since: now().AddDate(1, 0, 0)})
		if err != nil || (len(pruned) == 1) != row.pruned {
			t.Errorf("%s: pruned %v, %v", name, pruned, err)
		}
	}
}

// TestPruneOfARecordWithoutATarget: no lease is looked for, which might not be readable.
func TestPruneOfARecordWithoutATarget(t *testing.T) {
	asked := &peeking{Store: journal.NewMemory(), err: apierr.New(apierr.Denied, "forbidden")}
	if err := errors.Join(asked.Create(ctx, "run-1"), asked.Append(ctx, "run-1", 1, []byte("hello\n"))); err != nil {
		t.Fatal(err)
	}
	if pruned, err := journal.Prune(ctx, asked, journal.Retention{Broken: true}); err != nil || len(pruned) != 1 {
		t.Errorf("pruned %v, %v", pruned, err)
	}
}

// TestPruneStopsAtWhatItCannotRead: a key that is missing says nothing of the record.
func TestPruneStopsAtWhatItCannotRead(t *testing.T) {
	store, _ := underLease(t)
	removeKey(t, store)
	pruned, err := journal.Prune(ctx, store, journal.Retention{Keep: 1, Broken: true})
	if !isA[*journal.KeyError](err) || len(pruned) != 0 || !strings.Contains(err.Error(), `"run-1"`) {
		t.Errorf("pruned %v, %v", pruned, err)
	}
}
