package runbook

import "context"

// Ask makes a guard that looks, and judges what it saw. An error of either says that
// it can't be seen.
func Ask[T any](name, asks string, look func(context.Context, Run) (T, error), judge func(context.Context, Run, T) (Finding, error)) Guard {
	return Guard{Name: name, Question: asks, Evaluate: func(ctx context.Context, run Run) Finding {
		seen, err := look(ctx, run)
		if err != nil {
			return Unseen(err.Error())
		}
		finding, err := judge(ctx, run, seen)
		if err != nil {
			return Unseen(err.Error())
		}
		return finding
	}}
}

// Shared is a reading that the guards and the steps of one round share. The zero
// Shared has none.
type Shared[T any] struct {
	seen T
	// round is that of the reading; rounds are counted from 1.
	round int
}

// In gives the reading of a run's round. It looks when there is none.
func (s *Shared[T]) Get(ctx context.Context, run Run, look func(context.Context) (T, error)) (T, error) {
	if s.round == run.Round() {
		return s.seen, nil
	}
	seen, err := look(ctx)
	if err == nil {
		s.seen, s.round = seen, run.Round()
	}
	return seen, err
}

// Last is the newest reading; the zero value when there is none.
func (s *Shared[T]) Last() T { return s.seen }

// Forget has the next one look again.
func (s *Shared[T]) Reset() { s.round = 0 }
