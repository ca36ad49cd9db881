package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// locked notes in which order leases are taken and given back.
type locked struct {
	journal.Store
	taken, released []string
}

type notedLease struct {
	journal.Lease
	target string
	of     *locked
}

func (l *locked) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	lease, err := l.Store.Lock(ctx, claim)
	if err == nil {
		l.taken = append(l.taken, claim.Target)
	}
	return notedLease{lease, claim.Target, l}, err
}

func (n notedLease) Release(ctx context.Context) error {
	n.of.released = append(n.of.released, n.target)
	return n.Lease.Release(ctx)
}

func TestLeasesOfAllThatARunActsOnAreTakenInOneOrder(t *testing.T) {
	b := newBench(t)
	leases := &locked{Store: b.Engine.Journal}
	b.Engine.Journal = leases
	book := b.book()
	book.Locks = []string{"wire/2", "fuse/9", "wire/2", "lamp/1"}
	expect(t, b.run(book), runbook.Remediated, "")
	if want := []string{"fuse/9", "lamp/1", "wire/2"}; !slices.Equal(leases.taken, want) {
		t.Errorf("taken %v, want %v", leases.taken, want)
	}
	slices.Sort(leases.released)
	if !slices.Equal(leases.released, leases.taken) {
		t.Errorf("given back %v of %v", leases.released, leases.taken)
	}
}

func TestHeldLockGivesBackThoseTakenBefore(t *testing.T) {
	b := newBench(t)
	if _, err := b.Journal.Lock(t.Context(),
		journal.Claim{Target: "wire/2", Holder: journal.Holder{Run: "theirs"}}); err != nil {
		t.Fatal(err)
	}
	book := b.book()
	book.Locks = []string{"fuse/9", "wire/2"}
	var held *journal.HeldError
	if _, err := b.Run(t.Context(), book, engine.Options{}); !errors.As(err, &held) || held.Target != "wire/2" {
		t.Fatalf("ended with %v", err)
	}
	for _, target := range []string{"fuse/9", "lamp/1"} {
		if _, err := b.Journal.Lock(t.Context(), journal.Claim{Target: target}); err != nil {
			t.Errorf("%s is still held: %v", target, err)
		}
	}
	if len(b.calls) > 0 {
		t.Errorf("changes %v without all leases", b.calls)
	}
}

func TestLosingAnyLeaseMeansNoMoreChanges(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Locks = []string{"wire/2"}
	book.Steps[0].Await = func(ctx context.Context, _ runbook.Run) error { return b.usurp(ctx, "wire/2") }
	expect(t, b.run(book), runbook.NeedsAttention, "lease lost")
	if want := []string{"hang-sign"}; !slices.Equal(b.calls, want) {
		t.Errorf("changes %v, want %v", b.calls, want)
	}
}
