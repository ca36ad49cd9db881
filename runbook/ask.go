package runbook

import "context"

// Ask makes a guard of two halves: read observes the world, decide answers from
// what was read and from nothing else. An error of read is a finding that is
// unknown; decide is a pure function, which can be tested as a table and asked again
// of what the journal holds.
func Ask[T any](
	name, question string, read func(context.Context, Run) (T, error), decide func(T) Finding,
) Guard {
	return Guard{Name: name, Question: question, Evaluate: func(ctx context.Context, run Run) Finding {
		seen, err := read(ctx, run)
		if err != nil {
			return Unknown(err)
		}
		return decide(seen)
	}}
}

// Shared is a reading that the guards and the steps of one round share. The zero
// Shared has none. It is not for steps that run in parallel.
type Shared[T any] struct {
	seen T
	// round is that of the reading; rounds are counted from 1.
	round int
}

// Get gives the reading of a run's round. It reads when there is none.
func (s *Shared[T]) Get(ctx context.Context, run Run, read func(context.Context) (T, error)) (T, error) {
	if s.round == run.Round() {
		return s.seen, nil
	}
	seen, err := read(ctx)
	if err == nil {
		s.seen, s.round = seen, run.Round()
	}
	return seen, err
}

// Last is the newest reading; the zero value when there is none.
func (s *Shared[T]) Last() T { return s.seen }

// Reset has the next Get read again.
func (s *Shared[T]) Reset() { s.round = 0 }
