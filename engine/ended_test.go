package engine_test

import (
	"context"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// endless is a journal whose leases can't be told that a run is closed.
type endless struct{ journal.Store }

type endlessLease struct{ journal.Lease }

func (e endless) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	lease, err := e.Store.Lock(ctx, claim)
	return endlessLease{lease}, err
}

func (e endlessLease) SetOpenRun(ctx context.Context, open journal.OpenRun) error {
	if open.Closed {
		return errFull
	}
	return e.Lease.SetOpenRun(ctx, open)
}

// TestRunWhoseEndIsNotKnownToAllIsOpen: its lease names it as open to everybody else, and so does its result.
func TestRunWhoseEndIsNotKnownToAllIsOpen(t *testing.T) {
	b := newBench(t)
	b.Engine.Journal = endless{b.Engine.Journal}
	result := b.run(b.book())
	expect(t, result, runbook.NeedsAttention, "the journal can't be written any more")
	if !result.Unrecorded || !result.Open {
		t.Errorf("unrecorded %v, open %v", result.Unrecorded, result.Open)
	}
	peeked, err := b.Journal.Peek(t.Context(), "lamp/1")
	if err != nil || peeked.Open == nil || peeked.Open.Closed {
		t.Errorf("the lease names %+v, %v", peeked.Open, err)
	}
}
