package rollout

import (
	"context"
	"fmt"
	"time"

	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/journal"
)

// Soak is the action that waits until a time has passed since a step was first
// done for the revision. What it waits for is in the record, so that it is no
// matter who waits.
type Soak struct{ Clock clock.Clock }

// Capabilities say that waiting can be repeated and takes nobody's place.
func (Soak) Capabilities() Capabilities { return Capabilities{Repeatable: true, Idle: true} }

// Check has nothing to find: the file has been validated.
func (Soak) Check(context.Context, *pipeline.Step) error { return nil }

// Run waits.
func (s Soak) Run(ctx context.Context, attempt *Attempt) Outcome {
	soak := attempt.Step.Soak
	if attempt.Since.IsZero() {
		return Outcome{Result: journal.Failure,
			Reason: fmt.Sprintf("it waits for %s after %s was done, which it never was for this revision",
				soak.Duration.Duration, soak.Since.ID())}
	}
	until := attempt.Since.Add(soak.Duration.Duration)
	about := fmt.Sprintf("%s after %s was first done, at %s", soak.Duration.Duration, soak.Since.ID(),
		attempt.Since.UTC().Format(time.RFC3339))
	left := until.Sub(s.Clock.Now())
	if left > 0 {
		attempt.Report("until " + until.UTC().Format(time.RFC3339) + ", " + about)
	}
	if err := clock.Sleep(ctx, s.Clock, left); err != nil {
		return Outcome{Result: journal.Failure, Reason: fmt.Sprintf("it waits until %s: %v", until.UTC().Format(time.RFC3339),
			err)}
	}
	return Outcome{Result: journal.Done, Reason: about}
}

// Preview says how long it would wait.
func (s Soak) Preview(_ context.Context, attempt *Attempt) (string, error) {
	soak := attempt.Step.Soak
	if attempt.Since.IsZero() {
		return fmt.Sprintf("waits %s from the moment on in which %s is done", soak.Duration.Duration, soak.Since.ID()), nil
	}
	until := attempt.Since.Add(soak.Duration.Duration)
	return "waits until " + until.UTC().Format(time.RFC3339), nil
}
