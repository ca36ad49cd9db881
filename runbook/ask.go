package runbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"salve/internal/recordable"
)

// Ask makes a guard of two halves: read observes the world, decide answers from
// what was read and from nothing else. An error of read is a finding that is
// unknown; decide is a pure function, which can be tested as a table and asked again
// of what the journal holds. A *Contradiction needs attention, and no override helps.
//
// What was read is a value: decide takes it as it is read back from its JSON, which is
// what the record keeps. So T has exported fields, no interfaces and no functions, or
// the runbook is invalid; a field with the tag json:"-" is for others, and decide never
// has it.
func Ask[T any](
	name, question string, read func(context.Context, Run) (T, error), decide func(T) Finding,
) Guard {
	again := func(raw json.RawMessage) (Finding, error) {
		var seen T
		if err := recordable.Unmarshal(raw, &seen); err != nil {
			return Finding{}, err
		}
		return answered(decide(seen)), nil
	}
	unread := func(err error) Finding {
		failure := FailureOf(err)
		return failure.finding().read(Reading{Failure: failure})
	}
	of := reflect.TypeFor[T]()
	return Guard{
		Name: name, Question: question, decide: again,
		missing: func(raw json.RawMessage) string { return recordable.Missing(of, raw) },
		problem: recordable.Problem(of),
		Evaluate: func(ctx context.Context, run Run) Finding {
			seen, err := read(ctx, run)
			if err != nil {
				return unread(err)
			}
			raw, err := json.Marshal(seen)
			if err != nil {
				return unread(fmt.Errorf("recording what was read: %w", err))
			}
			if len(raw) > MaxReading {
				omitted := fmt.Sprintf("%d bytes, above the limit of %d", len(raw), MaxReading)
				return answered(decide(seen)).read(Reading{Omitted: omitted})
			}
			finding, err := again(raw)
			if err != nil {
				return unread(fmt.Errorf("reading back what was read: %w", err))
			}
			return finding.read(Reading{Value: raw})
		},
	}
}

// answered is a finding that has one of the answers; a decision that gave another one gave none.
func answered(finding Finding) Finding {
	switch finding.Answer {
	case AnswerHolds, AnswerDoesNotHold, AnswerUnknown:
		return finding
	}
	return Unknownf("the guard gave no answer (%q)", finding.Answer)
}

// Observe makes a step's Observe in the same way. An error of read means that nothing
// was observed, and a *Contradiction is a question for an operator.
func Observe[T any](
	read func(context.Context, Run) (T, error), decide func(T) Observation,
) func(context.Context, Run) Observation {
	return func(ctx context.Context, run Run) Observation {
		seen, err := read(ctx, run)
		var wrong *Contradiction
		switch {
		case errors.As(err, &wrong):
			return Undecidable(wrong.Question, "%s", wrong.Reason)
		case err != nil:
			return NotObserved(err)
		}
		return decide(seen)
	}
}

// Act makes a step's Apply or Await in the same way: act makes or awaits the change
// from what was read. After an error of read nothing is done.
func Act[T any](
	read func(context.Context, Run) (T, error), act func(context.Context, Run, T) error,
) func(context.Context, Run) error {
	return func(ctx context.Context, run Run) error {
		seen, err := read(ctx, run)
		if err != nil {
			return err
		}
		return act(ctx, run, seen)
	}
}

// Contradiction is the error of a reading that can't be true of what the run was
// asked to do: the record names another target, or a thing has the name of ours and
// is not ours. No guess follows from it: an operator has to tell.
type Contradiction struct{ Reason, Question string }

func (c *Contradiction) Error() string { return c.Reason }

// Shared is a reading that the guards and the steps of one round share. The zero
// Shared has none. Steps that run in parallel may share it; two of them may then read
// at once.
type Shared[T any] struct {
	lock sync.Mutex
	seen T
	// round is that of the reading; rounds are counted from 1.
	round int
	// resets tells a reading that was begun before the last Reset.
	resets int
}

// Get gives the reading of a run's round. It reads when there is none.
func (s *Shared[T]) Get(ctx context.Context, run Run, read func(context.Context) (T, error)) (T, error) {
	// The round is that in which reading began: code that was left behind may end in a
	// later one, and what it saw would pass for new.
	round := run.Round()
	seen, resets, known := s.of(round)
	if known {
		return seen, nil
	}
	seen, err := read(ctx)
	if err != nil {
		var none T
		return none, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if round >= s.round && resets == s.resets {
		s.seen, s.round = seen, round
	}
	return seen, nil
}

func (s *Shared[T]) of(round int) (seen T, resets int, known bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.seen, s.resets, round > 0 && s.round == round
}

// Last is the newest reading; the zero value when there is none.
func (s *Shared[T]) Last() T {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.seen
}

// Reset has the next Get read again.
func (s *Shared[T]) Reset() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.round, s.resets = 0, s.resets+1
}
