package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"salve/journal"
	"salve/runbook"
)

// counted is a store that notes which records are read.
type counted struct {
	*journal.Memory
	runs []string
}

func (r *counted) Read(ctx context.Context, run string) ([][]byte, error) {
	r.runs = append(r.runs, run)
	return r.Memory.Read(ctx, run)
}

const day = 24 * time.Hour

// aged writes the record of a run on a target that ended some time ago.
type aged struct {
	ago                               time.Duration
	target                            string
	open, unchanged, exported, broken bool
	// lasted is how long it took.
	lasted time.Duration
	// named is the run's name where it tells no time.
	named string
}

func (a aged) name(n int) string {
	if a.named != "" {
		return a.named
	}
	return fmt.Sprintf("%s-%06d", now().Add(-a.ago-a.lasted).Format("20060102-150405"), n)
}

func (a aged) write(t *testing.T, store journal.Store, n int) string {
	t.Helper()
	if a.target == "" {
		a.target = "lamp/1"
	}
	lease, err := store.Lock(ctx, journal.Claim{Target: a.target})
	if err != nil {
		t.Fatal(err)
	}
	header := journal.Header{Run: a.name(n), Runbook: "lamp-off", Target: runbook.Target{ID: a.target}}
	at := func() time.Time { return now().Add(-a.ago) }
	record, err := journal.Create(ctx, store, lease, at, header)
	if err == nil && !a.unchanged {
		err = record.Append(ctx, journal.Intended, "a", journal.Intent{Attempt: 1})
	}
	if err == nil && a.exported {
		err = record.PutExport(ctx, "bundle", []byte("x"))
	}
	if err == nil && !a.open {
		err = record.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated})
	}
	if err == nil && a.broken {
		err = store.Append(ctx, header.Run, 9, []byte("garbage\n"))
	}
	if err == nil {
		err = lease.Release(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return header.Run
}

// TestOldRunsExpire: of runs beyond the newest hundred those that nobody needs.
func TestOldRunsExpire(t *testing.T) {
	old, changed, unchanged := 100*day, aged{target: "lamp/2"}, aged{target: "lamp/2", unchanged: true}
	for name, test := range map[string]struct {
		oldest  aged
		expires bool
		// newest is the run on the target of the oldest one.
		newest *aged
	}{
		"old":                            {oldest: aged{ago: old}, expires: true},
		"of the last ninety days":        {oldest: aged{ago: 89 * day}},
		"of ninety days and an hour":     {oldest: aged{ago: 90*day + time.Hour}, expires: true},
		"begun long ago, ended lately":   {oldest: aged{ago: 80 * day, lasted: 20 * day}},
		"open":                           {oldest: aged{ago: old, open: true, unchanged: true}},
		"open after a change":            {oldest: aged{ago: old, open: true}},
		"broken":                         {oldest: aged{ago: old, broken: true}},
		"with an export":                 {oldest: aged{ago: old, exported: true}},
		"the only one of its target":     {oldest: aged{ago: old, target: "lamp/2"}},
		"the only one, nothing changed":  {oldest: aged{ago: old, target: "lamp/2", unchanged: true}, expires: true},
		"the newest that changed a lamp": {oldest: aged{ago: old, target: "lamp/2"}, newest: &unchanged},
		"old, of a name without a time":  {oldest: aged{ago: old, named: "0"}, expires: true},
		"one that was changed again":     {oldest: aged{ago: old, target: "lamp/2"}, newest: &changed, expires: true},
	} {
		t.Run(name, func(t *testing.T) {
			store := &counted{Memory: journal.NewMemory()}
			oldest := test.oldest.write(t, store, 0)
			for n := range journal.DefaultKeep {
				next := aged{ago: time.Hour}
				if n == 0 && test.newest != nil {
					next = *test.newest
				}
				next.write(t, store, n+1)
			}
			expired, err := journal.Expire(ctx, store, now(), journal.DefaultAge, "current")
			if err != nil || slices.Equal(expired, []string{oldest}) != test.expires || !test.expires && len(expired) > 0 {
				t.Errorf("expired %v, %v; want it to expire: %v", expired, err, test.expires)
			}
			runs, err := store.Runs(ctx)
			if err != nil || slices.Contains(runs, oldest) == test.expires {
				t.Errorf("it is there: %v, %v", !test.expires, err)
			}
		})
	}
}

// TestExpireReadsNoYoungRecord: nor any of the newest hundred, nor the current run.
func TestExpireReadsNoYoungRecord(t *testing.T) {
	store := &counted{Memory: journal.NewMemory()}
	var names []string
	for n := range 4 {
		names = append(names, aged{ago: 100 * day}.write(t, store, n))
	}
	for n := range journal.DefaultKeep + 2 {
		names = append(names, aged{ago: 80 * day}.write(t, store, 10+n))
	}
	newest := names[len(names)-1]
	store.runs = nil
	expired, err := journal.Expire(ctx, store, now(), journal.DefaultAge, names[1])
	if want := []string{names[0], names[2], names[3]}; err != nil || !slices.Equal(expired, want) {
		t.Errorf("expired %v, %v; want %v", expired, err, want)
	}
	if want := []string{names[0], newest, names[2], names[3]}; !slices.Equal(store.runs, want) {
		t.Errorf("read %v, want %v", store.runs, want)
	}
	store.runs = nil
	later := now().Add(300 * day)
	expired, err = journal.Expire(ctx, store, later, journal.DefaultAge, "")
	if err != nil || len(expired) != 3 || len(store.runs) != 4 {
		t.Errorf("expired %v, %v, read %v", expired, err, store.runs)
	}
	if expired, err := journal.Expire(ctx, store, later, journal.DefaultAge, ""); err != nil || len(expired) != 0 {
		t.Errorf("of the newest hundred %v expired: %v", expired, err)
	}
}

// TestExpireIsBounded: the run that does it is not kept waiting.
func TestExpireIsBounded(t *testing.T) {
	store := journal.NewMemory()
	for n := range journal.DefaultKeep + 30 {
		aged{ago: 100 * day, unchanged: true}.write(t, store, n)
	}
	for _, want := range []int{20, 10, 0} {
		if expired, err := journal.Expire(ctx, store, now(), journal.DefaultAge, ""); err != nil || len(expired) != want {
			t.Errorf("%d expired, want %d: %v", len(expired), want, err)
		}
	}
}

// stubborn is a store that neither lists nor deletes.
type stubborn struct {
	*journal.Memory
	lists, deletes error
}

func (s stubborn) Runs(ctx context.Context) ([]string, error) {
	if s.lists != nil {
		return nil, s.lists
	}
	return s.Memory.Runs(ctx)
}

func (s stubborn) Delete(context.Context, string) error { return s.deletes }

// TestExpireSaysWhatItCouldNotDo: nobody takes a run for deleted that is there.
func TestExpireSaysWhatItCouldNotDo(t *testing.T) {
	store, oldest := journal.NewMemory(), aged{ago: 100 * day, unchanged: true}
	for n := range journal.DefaultKeep + 1 {
		oldest.write(t, store, n)
	}
	for want, at := range map[string]stubborn{
		"listing the journal: no":                          {Memory: store, lists: errors.New("no")},
		fmt.Sprintf("deleting run %q: no", oldest.name(0)): {Memory: store, deletes: errors.New("no")},
	} {
		expired, err := journal.Expire(ctx, at, now(), journal.DefaultAge, "")
		if err == nil || err.Error() != want || len(expired) > 0 {
			t.Errorf("expired %v, %v, want %q", expired, err, want)
		}
	}
}
