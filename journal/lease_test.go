package journal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/journal"
)

// TestHolderIsNamed: with all that is known, and nothing that isn't.
func TestHolderIsNamed(t *testing.T) {
	since := time.Date(2026, 3, 1, 14, 13, 0, 0, time.FixedZone("", 2*60*60))
	for want, holder := range map[string]journal.Holder{
		"an unnamed holder":        {},
		"run run-1":                {Run: "run-1"},
		"an unnamed holder of ada": {User: "ada"},
		"an unnamed holder on host ci-7 (process 42)":     {Host: "ci-7", PID: 42},
		"an unnamed holder since 2026-03-01 12:13:00 UTC": {Since: since},
		"run run-1 of ada on host ci-7 (process 42) since 2026-03-01 12:13:00 UTC": {
			Run: "run-1", User: "ada", Host: "ci-7", PID: 42, Since: since,
		},
	} {
		if got := holder.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	held := &journal.HeldError{Target: "lamp/1", Holder: journal.Holder{Run: "run-1", Host: "ci-7", PID: 42}}
	if got := held.Error(); got !=
		"the lease is held by run run-1 on host ci-7 (process 42), until that process ends; target lamp/1" {
		t.Errorf("got %q", got)
	}
	held.Silence = 15 * time.Second
	if got := held.Error(); got != "the lease is held by run run-1 on host ci-7 (process 42), until it is released, "+
		"or 15s after that process's last sign of life; target lamp/1" {
		t.Errorf("got %q", got)
	}
}

// TestLostLeaseSaysToWhom: where that is known.
func TestLostLeaseSaysToWhom(t *testing.T) {
	for want, lost := range map[string]journal.LostError{
		"lease lost: lamp/1 (ours was epoch 7)":                  {Target: "lamp/1", Epoch: 7},
		"lease lost: lamp/1 (ours was epoch 7; it was released)": {Target: "lamp/1", Epoch: 7, Reason: "it was released"},
		"lease lost: held by run run-2 (ours was epoch 7)": {Target: "lamp/1", Epoch: 7,
			Holder: &journal.Holder{Run: "run-2"}},
		"lease lost: held by run run-2 (ours was epoch 7; it expired)": {
			Target: "lamp/1", Epoch: 7, Holder: &journal.Holder{Run: "run-2"}, Reason: "it expired",
		},
	} {
		if got := lost.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// stores are the stores of this package, each empty.
func stores(t *testing.T) map[string]journal.Store {
	return map[string]journal.Store{"memory": journal.NewMemory(), "file": journal.NewFile(t.TempDir())}
}

// TestLeaseOfAStore: what any store's leases promise.
func TestLeaseOfAStore(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			if peeked, err := store.Peek(ctx, "lamp/1"); err != nil || peeked != (journal.Peeked{}) {
				t.Errorf("before the first: %+v, %v", peeked, err)
			}
			holder := journal.Holder{Run: "run-1", User: "ada", Host: "ci-7", PID: 42, Since: now()}
			first, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: holder, Above: 5})
			if err != nil || first.Epoch() != 6 || first.OpenRun() != nil {
				t.Fatalf("the first: %+v, %v", first, err)
			}
			var held *journal.HeldError
			_, err = store.Lock(ctx, journal.Claim{Target: "lamp/1"})
			if !errors.As(err, &held) || held.Target != "lamp/1" || held.Holder != holder ||
				apierr.ClassOf(err) != apierr.Conflict {
				t.Errorf("the second: %v", err)
			}
			want := "the lease is held by " + holder.String() + ", until that process ends; target lamp/1"
			if err != nil && err.Error() != want {
				t.Errorf("it says %q, want %q", err, want)
			}
			open := journal.OpenRun{Target: "lamp/1", Run: "run-1", Seq: 3}
			if err := errors.Join(first.Check(ctx), first.SetOpenRun(ctx, open)); err != nil {
				t.Fatal(err)
			}
			if got := first.OpenRun(); got == nil || *got != open {
				t.Errorf("the lease names %+v", got)
			}
			peeked, err := store.Peek(ctx, "lamp/1")
			if err != nil || peeked.Epoch != 6 || peeked.Holder == nil || *peeked.Holder != holder || peeked.Open == nil ||
				*peeked.Open != open {
				t.Errorf("while it is held: %+v, %v", peeked, err)
			}
			if err := errors.Join(first.Release(ctx), first.Release(ctx)); err != nil {
				t.Errorf("released twice: %v", err)
			}
			var gone *journal.LostError
			if err := first.Check(ctx); !errors.As(err, &gone) || gone.Reason != "it was released" {
				t.Errorf("checked after it was released: %v", err)
			}
			peeked, err = store.Peek(ctx, "lamp/1")
			if err != nil || peeked.Epoch != 6 || peeked.Holder != nil || peeked.Open == nil || *peeked.Open != open {
				t.Errorf("after it was released: %+v, %v", peeked, err)
			}
			second, err := store.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: holder})
			if err != nil || second.Epoch() != 7 || second.OpenRun() == nil || *second.OpenRun() != open {
				t.Fatalf("the second: %+v, %v", second, err)
			}
			if err := first.Check(ctx); !errors.As(err, &gone) || gone.Epoch != 6 || gone.Target != "lamp/1" ||
				apierr.ClassOf(err) != apierr.Conflict {
				t.Errorf("the first's check: %v", err)
			}
			if err := first.SetOpenRun(ctx, journal.OpenRun{Run: "run-9"}); !errors.As(err, &gone) {
				t.Errorf("the first names a run: %v", err)
			}
			if err := first.Release(ctx); err != nil {
				t.Error(err)
			}
			if err := second.Check(ctx); err != nil {
				t.Errorf("the first released the second's: %v", err)
			}
			if got := second.OpenRun(); *got != open {
				t.Errorf("the first named %+v in it", got)
			}
			if err := second.Release(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBackendOfAStore: what any store's records promise.
func TestBackendOfAStore(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			if runs, err := store.Runs(ctx); err != nil || len(runs) != 0 {
				t.Errorf("an empty one has %v, %v", runs, err)
			}
			if err := errors.Join(store.Create(ctx, "run-1"), store.Create(ctx, "run-10")); err != nil {
				t.Fatal(err)
			}
			if err := store.Create(ctx, "run-1"); err == nil {
				t.Error("a record was made twice")
			}
			err := errors.Join(store.Append(ctx, "run-1", 1, []byte("one\n")), store.Append(ctx, "run-1", 2, []byte("two\n")),
				store.PutExport(ctx, "run-1", "x", []byte("1")), store.PutExport(ctx, "run-10", "x", []byte("10")),
				store.PutExport(ctx, "run-1", "x", []byte("1")))
			if err != nil {
				t.Fatal(err)
			}
			if err := store.PutExport(ctx, "run-1", "x", []byte("2")); apierr.ClassOf(err) != apierr.Conflict || err == nil {
				t.Errorf("other data under the same name: %v", err)
			}
			if lines, err := store.Read(ctx, "run-1"); err != nil || len(lines) != 2 || string(lines[0]) != "one" ||
				string(lines[1]) != "two" {
				t.Errorf("read %q, %v", lines, err)
			}
			for seq, want := range []string{1: "one", 2: "two"} {
				if line, err := store.ReadLine(ctx, "run-1", seq); want != "" && (err != nil || string(line) != want) {
					t.Errorf("line %d is %q, %v", seq, line, err)
				}
			}
			for _, seq := range []int{-1, 0, 3} {
				if line, err := store.ReadLine(ctx, "run-1", seq); err == nil {
					t.Errorf("line %d is %q", seq, line)
				}
			}
			if runs, err := store.Runs(ctx); err != nil || !slices.Equal(runs, []string{"run-1", "run-10"}) {
				t.Errorf("runs %v, %v", runs, err)
			}
			if err := store.Delete(ctx, "run-1"); err != nil {
				t.Fatal(err)
			}
			var missing *journal.MissingError
			if _, err := store.Read(ctx, "run-1"); !errors.As(err, &missing) || missing.Run != "run-1" {
				t.Errorf("a deleted record: %v", err)
			}
			if _, err := store.ReadLine(ctx, "run-1", 1); !errors.As(err, &missing) {
				t.Errorf("a deleted record's line: %v", err)
			}
			if _, err := store.Export(ctx, "run-1", "x"); !errors.As(err, &missing) {
				t.Errorf("a deleted record's export: %v", err)
			}
			if data, err := store.Export(ctx, "run-10", "x"); err != nil || string(data) != "10" {
				t.Errorf("another record's export is %q, %v", data, err)
			}
			if err := store.Create(ctx, "run-1"); err != nil {
				t.Errorf("made anew: %v", err)
			}
			if lines, err := store.Read(ctx, "run-1"); err != nil || len(lines) != 0 {
				t.Errorf("made anew it holds %q, %v", lines, err)
			}
		})
	}
}

// noting is a locker that notes what it is asked for, in which order.
type noting struct {
	journal.Locker
	name  string
	asked *[]string
}

func (n noting) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	*n.asked = append(*n.asked, n.name+claim.Target)
	lease, err := n.Locker.Lock(ctx, claim)
	return notingLease{lease, n.name + claim.Target, n.asked}, err
}

type notingLease struct {
	journal.Lease
	name  string
	asked *[]string
}

func (l notingLease) Release(ctx context.Context) error {
	*l.asked = append(*l.asked, "release "+l.name)
	return l.Lease.Release(ctx)
}

// TestTargetsAreLockedInOneOrder: whatever order they are named in, each once, and
// released the other way round.
func TestTargetsAreLockedInOneOrder(t *testing.T) {
	var asked []string
	locker := noting{journal.NewMemory(), "", &asked}
	all, err := journal.LockAll(ctx, locker, journal.Claim{Target: "b"}, journal.Claim{Target: "c", Above: 7},
		journal.Claim{Target: "a"}, journal.Claim{Target: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if all.Epoch() != 8 {
		t.Errorf("epoch %d", all.Epoch())
	}
	if err := all.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "c", "release c", "release b", "release a"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	if _, err := journal.LockAll(ctx, locker); apierr.ClassOf(err) != apierr.Terminal || err == nil {
		t.Errorf("no targets: %v", err)
	}
}

// TestLockersAllNameTheRun: and the epoch of the later ones is above that of those
// before.
func TestLockersAllNameTheRun(t *testing.T) {
	world, machine := journal.NewMemory(), journal.NewMemory()
	both := journal.Lockers{world, machine}
	lease, err := both.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-1"}, Above: 4})
	if err != nil || lease.Epoch() != 6 {
		t.Fatalf("%+v, %v", lease, err)
	}
	if err := lease.SetOpenRun(ctx, journal.OpenRun{Target: "lamp/1", Run: "run-1", Epoch: 6}); err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]journal.Locker{"world": world, "machine": machine, "both": both} {
		if peeked, err := store.Peek(ctx, "lamp/1"); err != nil || peeked.Open == nil || peeked.Open.Run != "run-1" ||
			peeked.Holder == nil {
			t.Errorf("%s: %+v, %v", name, peeked, err)
		}
	}
	machine.Expire("lamp/1")
	if _, err := machine.Lock(ctx, journal.Claim{Target: "lamp/1"}); err != nil {
		t.Fatal(err)
	}
	if err := lease.Check(ctx); apierr.ClassOf(err) != apierr.Conflict || err == nil {
		t.Errorf("one of them is lost: %v", err)
	}
	world.Expire("lamp/1")
	var held *journal.HeldError
	if _, err := both.Lock(ctx, journal.Claim{Target: "lamp/1"}); !errors.As(err, &held) {
		t.Errorf("the second of them is held: %v", err)
	}
	if peeked, err := world.Peek(ctx, "lamp/1"); err != nil || peeked.Holder != nil {
		t.Errorf("the first was not released: %+v, %v", peeked, err)
	}
}

// TestOpenRunOfSeveralLeases: one that is open wins, else the newer one does.
func TestOpenRunOfSeveralLeases(t *testing.T) {
	run := func(name string, epoch int64, closed bool) *journal.OpenRun {
		return &journal.OpenRun{Target: "lamp/1", Run: name, Epoch: epoch, Closed: closed}
	}
	for name, row := range map[string]struct {
		world, machine *journal.OpenRun
		want           string
	}{
		"none":                        {nil, nil, ""},
		"the world's alone":           {run("w", 1, false), nil, "w"},
		"the machine's alone":         {nil, run("m", 1, false), "m"},
		"the world's is open":         {run("w", 1, false), run("m", 9, true), "w"},
		"the machine's is open":       {run("w", 9, true), run("m", 1, false), "m"},
		"both closed, world newer":    {run("w", 9, true), run("m", 1, true), "w"},
		"both closed, machine newer":  {run("w", 1, true), run("m", 9, true), "m"},
		"both open, machine newer":    {run("w", 1, false), run("m", 9, false), "m"},
		"both open, of one epoch":     {run("w", 9, false), run("m", 9, false), "w"},
		"both closed, and of 1 epoch": {run("w", 9, true), run("m", 9, true), "w"},
	} {
		both := journal.Lockers{journal.NewMemory(), journal.NewMemory()}
		for i, open := range []*journal.OpenRun{row.world, row.machine} {
			lease, err := both[i].Lock(ctx, journal.Claim{Target: "lamp/1", Above: int64(3 * i)})
			if err == nil && open != nil {
				err = lease.SetOpenRun(ctx, *open)
			}
			if err := errors.Join(err, lease.Release(ctx)); err != nil {
				t.Fatal(err)
			}
		}
		peeked, err := both.Peek(ctx, "lamp/1")
		if err != nil || peeked.Epoch != 4 || peeked.Holder != nil || nameOf(peeked.Open) != row.want {
			t.Errorf("%s: peeked %+v, %v", name, peeked, err)
		}
		lease, err := both.Lock(ctx, journal.Claim{Target: "lamp/1"})
		if err != nil || nameOf(lease.OpenRun()) != row.want {
			t.Errorf("%s: locked %v, %v", name, nameOf(lease.OpenRun()), err)
		}
	}
}

func nameOf(open *journal.OpenRun) string {
	if open == nil {
		return ""
	}
	return open.Run
}

// TestHolderOfSeveralLeasesIsTheFirst: that of the world, where there is one.
func TestHolderOfSeveralLeasesIsTheFirst(t *testing.T) {
	both := journal.Lockers{journal.NewMemory(), journal.NewMemory()}
	for i, name := range []string{"world", "machine"} {
		if _, err := both[i].Lock(ctx, journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: name}}); err != nil {
			t.Fatal(err)
		}
	}
	if peeked, err := both.Peek(ctx, "lamp/1"); err != nil || peeked.Holder == nil || peeked.Holder.Run != "world" {
		t.Errorf("peeked %+v, %v", peeked, err)
	}
}

// TestEditedLeaseFileIsRefused: an epoch that no lease can have is damage.
func TestEditedLeaseFileIsRefused(t *testing.T) {
	for _, epoch := range []string{"-1", "2147483648"} {
		store, _ := underLease(t)
		editLease(t, store, func(text string) string { return strings.Replace(text, `"epoch":1`, `"epoch":`+epoch, 1) })
		if _, err := store.Lock(ctx, journal.Claim{Target: "lamp/1"}); err == nil ||
			!strings.Contains(err.Error(), "out of range") {
			t.Errorf("epoch %s: %v", epoch, err)
		}
		if _, err := store.Peek(ctx, "lamp/1"); err == nil {
			t.Errorf("epoch %s was peeked at", epoch)
		}
	}
}

// TestLeaseWhoseFileWasTakenOverIsLost: as on a network file system, where two
// machines can hold the lock at once.
func TestLeaseWhoseFileWasTakenOverIsLost(t *testing.T) {
	store := journal.NewFile(t.TempDir())
	lease := locked(t, store)
	editLease(t, store, func(text string) string {
		return strings.Replace(strings.Replace(text, `"epoch":1`, `"epoch":2`, 1), "run-1", "run-2", 1)
	})
	var gone *journal.LostError
	if err := lease.Check(ctx); !errors.As(err, &gone) || gone.Holder == nil || gone.Holder.Run != "run-2" ||
		!strings.Contains(gone.Reason, "epoch 2") {
		t.Errorf("checked: %v", err)
	}
	if err := lease.SetOpenRun(ctx, journal.OpenRun{Run: "run-1"}); !errors.As(err, &gone) {
		t.Errorf("named: %v", err)
	}
	if err := lease.Release(ctx); err != nil {
		t.Error(err)
	}
	if peeked, err := store.Peek(ctx, "lamp/1"); err != nil || peeked.Holder == nil || peeked.Holder.Run != "run-2" ||
		peeked.Epoch != 2 {
		t.Errorf("the new holder's lease was written to: %+v, %v", peeked, err)
	}
}
