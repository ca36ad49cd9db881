package journal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"salve/journal"
	"salve/runbook"
)

var errStore = errors.New("no space left on device")

// fragile is a store of which one call fails, once, or one of the leases that it
// hands out.
type fragile struct {
	journal.Store
	*faults
}

// faults lets some calls go well, then one fail; all go well below zero.
type faults struct {
	left   int
	failed string
}

func (f *faults) call(name string) error {
	if f.left--; f.left == -1 {
		f.failed = name
		return errStore
	}
	return nil
}

func (f *faults) fails(call string) bool { return strings.HasPrefix(f.failed, call) }

func (f *fragile) Key(ctx context.Context, runbook string) (journal.Key, error) {
	if err := f.call("key"); err != nil {
		return journal.Key{}, err
	}
	return f.Store.Key(ctx, runbook)
}

func (f *fragile) MakeKey(ctx context.Context, runbook string) (journal.Key, error) {
	if err := f.call("make key"); err != nil {
		return journal.Key{}, err
	}
	return f.Store.MakeKey(ctx, runbook)
}

func (f *fragile) Create(ctx context.Context, run string) error {
	if err := f.call("create"); err != nil {
		return err
	}
	return f.Store.Create(ctx, run)
}

func (f *fragile) Append(ctx context.Context, run string, seq int, line []byte) error {
	if err := f.call("append"); err != nil {
		return err
	}
	return f.Store.Append(ctx, run, seq, line)
}

func (f *fragile) Read(ctx context.Context, run string) ([][]byte, error) {
	if err := f.call("read"); err != nil {
		return nil, err
	}
	return f.Store.Read(ctx, run)
}

func (f *fragile) ReadLine(ctx context.Context, run string, seq int) ([]byte, error) {
	if err := f.call("read line"); err != nil {
		return nil, err
	}
	return f.Store.ReadLine(ctx, run, seq)
}

func (f *fragile) Runs(ctx context.Context) ([]string, error) {
	if err := f.call("runs"); err != nil {
		return nil, err
	}
	return f.Store.Runs(ctx)
}

func (f *fragile) PutExport(ctx context.Context, run, name string, data []byte) error {
	if err := f.call("put export"); err != nil {
		return err
	}
	return f.Store.PutExport(ctx, run, name, data)
}

func (f *fragile) Export(ctx context.Context, run, name string) ([]byte, error) {
	if err := f.call("export " + name); err != nil {
		return nil, err
	}
	return f.Store.Export(ctx, run, name)
}

func (f *fragile) Delete(ctx context.Context, run string) error {
	if err := f.call("delete"); err != nil {
		return err
	}
	return f.Store.Delete(ctx, run)
}

func (f *fragile) Peek(ctx context.Context, target string) (journal.Peeked, error) {
	if err := f.call("peek"); err != nil {
		return journal.Peeked{}, err
	}
	return f.Store.Peek(ctx, target)
}

func (f *fragile) OpenRuns(ctx context.Context) ([]journal.OpenRun, error) {
	if err := f.call("open runs"); err != nil {
		return nil, err
	}
	return f.Store.OpenRuns(ctx)
}

func (f *fragile) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	if err := f.call("lock"); err != nil {
		return nil, err
	}
	lease, err := f.Store.Lock(ctx, claim)
	if err != nil {
		return nil, err
	}
	return &fragileLease{lease, f.faults}, nil
}

type fragileLease struct {
	journal.Lease
	*faults
}

func (l *fragileLease) Check(ctx context.Context) error {
	return errors.Join(l.call("check"), l.Lease.Check(ctx))
}

func (l *fragileLease) SetOpenRun(ctx context.Context, open journal.OpenRun) error {
	if err := l.call("set head"); err != nil {
		return err
	}
	return l.Lease.SetOpenRun(ctx, open)
}

func (l *fragileLease) Release(ctx context.Context) error {
	return errors.Join(l.Lease.Release(ctx), l.call("release"))
}

// scene is a run on lamp/1 with what can be kept apart from it, under a lease; run-0
// before it is closed.
type scene struct {
	*faults
	store, other *fragile
	lease        journal.Lease
	record       *journal.Record
}

func newScene(t *testing.T) *scene {
	t.Helper()
	all := &faults{left: -1}
	s := &scene{faults: all, store: &fragile{journal.NewMemory(), all}, other: &fragile{journal.NewMemory(), all}}
	s.lease = locked(t, s.store)
	for _, run := range []string{"run-0", "run-1"} {
		header := journal.Header{Run: run, Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}, Inputs: []byte(podSpec)}
		record, err := journal.Create(ctx, s.store, s.lease, now, header)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(
			record.Append(ctx, journal.Intended, "a", journal.Intent{Attempt: 1}),
			record.PutExport(ctx, "bundle", []byte("definition")),
			record.Append(ctx, journal.Noted, "", journal.Note{Name: "pod", Value: []byte(podSpec)}))
		if run == "run-0" {
			err = errors.Join(err, record.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated}))
		}
		if err != nil {
			t.Fatal(err)
		}
		s.record = record
	}
	return s
}

func (s *scene) migrate() error {
	from := journal.Location{Backend: s.store, Locker: s.store, Where: "here", ID: "here"}
	to := journal.Location{Backend: s.other, Locker: s.other, Where: "there", ID: "there"}
	_, err := journal.Migration{Run: "run-1", From: from, To: to, Now: now}.Migrate(ctx)
	return err
}

func (s *scene) findOpen(known *journal.OpenRun) error {
	found, err := journal.FindOpen(ctx, s.store, "lamp/1", known)
	return errors.Join(append(found.Unreadable, err)...)
}

// storeUse is something that is asked of a store.
type storeUse struct {
	do func(*scene) error
	// quiet are the calls, as they begin, whose failure changes nothing of the answer.
	quiet []string
}

// storeUses are all of them.
func storeUses() map[string]storeUse {
	header := journal.Header{Run: "run-9", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}, Inputs: []byte(podSpec)}
	claims := []journal.Claim{{Target: "lamp/2"}, {Target: "lamp/3"}}
	release := func(s *scene) error { return s.lease.Release(ctx) }
	return map[string]storeUse{
		"create": {do: func(s *scene) error {
			_, err := journal.Create(ctx, s.store, s.lease, now, header)
			return err
		}},
		"load": {do: func(s *scene) error {
			record, err := journal.Load(ctx, s.store, "run-1")
			if err != nil {
				return err
			}
			var pod any
			_, err = record.Recall("pod", &pod)
			return err
		}},
		"append": {do: func(s *scene) error { return s.record.Append(ctx, journal.Warned, "", journal.Message{Text: "x"}) }},
		"append a note": {do: func(s *scene) error {
			return s.record.Append(ctx, journal.Noted, "", journal.Note{Name: "x", Value: []byte(podSpec)})
		}},
		"append a resumption": {do: func(s *scene) error {
			return s.record.Append(ctx, journal.Resumed, "", journal.Resumption{Inputs: []byte(podSpec)})
		}},
		"export": {do: func(s *scene) error { return s.record.PutExport(ctx, "other", []byte("x")) }},
		"read an export": {do: func(s *scene) error {
			_, err := s.record.ReadExport(ctx, "bundle")
			return err
		}},
		"read back": {do: func(s *scene) error {
			var pod any
			_, err := s.record.ReadBack(ctx, "pod", &pod)
			return err
		}},
		"find": {do: func(s *scene) error {
			var unread error
			_, err := journal.Find(ctx, s.store, func(*journal.History) bool { return true },
				func(_ string, err error) { unread = err })
			return errors.Join(err, unread)
		}, quiet: []string{"export private-"}},
		"find what the lease names": {do: func(s *scene) error { return s.findOpen(s.lease.OpenRun()) },
			quiet: []string{"export private-"}},
		"find what is open": {do: func(s *scene) error { return s.findOpen(nil) },
			quiet: []string{"export private-"}},
		"forget": {do: func(s *scene) error { return journal.Forget(ctx, s.store, s.lease, "run-1") },
			quiet: []string{"key"}},
		"adopt": {do: func(s *scene) error {
			if err := s.lease.Release(ctx); err != nil {
				return err
			}
			lease, err := s.store.Lock(ctx, journal.Claim{Target: "lamp/1"})
			if err != nil {
				return err
			}
			return s.record.Adopt(ctx, lease, now)
		}},
		// A lease that can't be read may name the run, and the run is kept.
		"prune": {do: func(s *scene) error {
			_, err := journal.Prune(ctx, s.store, journal.Retention{Since: now().AddDate(1, 0, 0)})
			return err
		}, quiet: []string{"peek", "export private-"}},
		"lock several": {do: func(s *scene) error {
			all, err := journal.LockAll(ctx, s.store, claims...)
			if err != nil {
				return err
			}
			return errors.Join(all.Check(ctx), all.SetOpenRun(ctx, journal.OpenRun{Run: "run-9"}), all.Release(ctx))
		}},
		"lock in several": {do: func(s *scene) error {
			all, err := journal.Lockers{s.store, s.other}.Lock(ctx, claims[0])
			if err != nil {
				return err
			}
			return errors.Join(all.Check(ctx), all.SetOpenRun(ctx, journal.OpenRun{Run: "run-9"}), all.Release(ctx))
		}},
		"newest first": {do: func(s *scene) error {
			var unread error
			every := func(*journal.Record) bool { return true }
			err := journal.NewestFirst(ctx, s.store, every, func(_ string, err error) { unread = err })
			return errors.Join(err, unread)
		}, quiet: []string{"export private-"}},
		"open runs of several": {do: func(s *scene) error {
			_, err := journal.Lockers{s.store, s.other}.OpenRuns(ctx)
			return err
		}},
		"peek in several": {do: func(s *scene) error {
			_, err := journal.Lockers{s.store, s.other}.Peek(ctx, "lamp/1")
			return err
		}},
		"migrate": {do: func(s *scene) error { return errors.Join(release(s), s.migrate()) },
			quiet: []string{"export private-"}},
	}
}

// TestEveryErrorOfTheStoreIsTold: whichever call fails, what was asked for is not
// said to be done, and no lease is kept that nobody has.
func TestEveryErrorOfTheStoreIsTold(t *testing.T) {
	for name, use := range storeUses() {
		t.Run(name, func(t *testing.T) {
			n := 0
			for use.fails(t, n) {
				n++
			}
		})
	}
}

// fails lets one call fail; it is false when there is none of that number.
func (u storeUse) fails(t *testing.T, n int) bool {
	s := newScene(t)
	s.left = n
	err := u.do(s)
	switch {
	case s.failed == "" && err != nil:
		t.Errorf("nothing failed: %v", err)
	case s.failed != "" && !errors.Is(err, errStore) && !slices.ContainsFunc(u.quiet, s.fails):
		t.Errorf("call %d (%s) failed, and what is told is %v", n, s.failed, err)
	}
	failed := s.failed != ""
	s.left = -1
	for _, store := range []*fragile{s.store, s.other} {
		for _, target := range []string{"lamp/2", "lamp/3"} {
			if peeked, err := store.Peek(ctx, target); err != nil || peeked.Holder != nil {
				t.Errorf("call %d (%s): the lease on %s is held, %v", n, s.failed, target, err)
			}
		}
	}
	return failed
}
