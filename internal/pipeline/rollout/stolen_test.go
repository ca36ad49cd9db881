package rollout_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"salve/internal/apierr"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// stolen is a journal whose lease another takes as soon as a change was announced.
type stolen struct {
	journal.Store
	taken atomic.Bool
}

func (s *stolen) Append(ctx context.Context, run string, seq int, line []byte) error {
	if bytes.Contains(line, []byte(`"kind":"`+string(journal.Intended)+`"`)) {
		s.taken.Store(true)
	}
	return s.Store.Append(ctx, run, seq, line)
}

func (s *stolen) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	lease, err := s.Store.Lock(ctx, claim)
	return &stolenLease{lease, s}, err
}

type stolenLease struct {
	journal.Lease
	of *stolen
}

func (l *stolenLease) Check(ctx context.Context) error {
	if l.of.taken.Load() {
		return &apierr.Error{Class: apierr.Conflict, Err: &journal.LostError{Target: "a pipeline"}}
	}
	return l.Lease.Check(ctx)
}

// TestStepIsNotStartedAfterItsLeaseWasLost: a program that was started can't be held
// back at the wire, so its permit is asked right before.
func TestStepIsNotStartedAfterItsLeaseWasLost(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.journal = &stolen{Store: b.journal}
		result := b.run(t.Context(), b.plan("", "a"), rollout.Options{})
		if len(b.calls) > 0 || result.Outcome != runbook.NeedsAttention {
			t.Errorf("ended %s (%s) after %v were started", result.Outcome, result.Reason, b.calls)
		}
	})
}
