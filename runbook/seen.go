package runbook

import (
	"context"
	"time"
)

// Seen is a reading with the time at which it was made: a decision has no clock.
type Seen[T any] struct {
	What T         `json:"what"`
	Seen time.Time `json:"seen"`
}

// SeenAt makes a reading with its time.
func SeenAt[T any](what T, at time.Time) Seen[T] { return Seen[T]{What: what, Seen: at} }

// UnderWay is a reading with how far the run is.
type UnderWay[T any] struct {
	What T `json:"what"`
	// Begun: the run has announced its first change.
	Begun bool `json:"begun"`
}

// AskUnderWay is Ask for a guard that is asked again while the run is at work. A finding that is deferred puts a run
// off that has not begun; one that has, it interrupts, and whoever started it must not take that for its end: it has
// failed.
func AskUnderWay[T any](
	name, question string, begun func(Run) bool, read func(context.Context, Run) (T, error), decide func(T) Finding,
) Guard {
	reading := func(ctx context.Context, run Run) (UnderWay[T], error) {
		seen, err := read(ctx, run)
		if err != nil {
			return UnderWay[T]{}, err
		}
		return UnderWay[T]{seen, begun(run)}, nil
	}
	return Ask(name, question, reading, func(seen UnderWay[T]) Finding {
		finding := decide(seen.What)
		if finding.Outcome == Deferred && seen.Begun {
			return finding.WithOutcome(Failed)
		}
		return finding
	})
}
