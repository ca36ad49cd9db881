package engine

import (
	"context"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
)

// grace is how long a runbook's code may take to return after its context ended.
const grace = time.Minute

// call runs a runbook's code. A panic in it is an error that carries the stack. Code
// that does not return within lingers after its context ended is left behind: the
// run must not hang on it, and what it did is unknown.
func call[T any](ctx context.Context, clk clock.Clock, lingers time.Duration, code func() T, failed func(error) T) T {
	if lingers == 0 {
		lingers = grace
	}
	answer := make(chan T, 1)
	go func() {
		defer func() {
			if value := recover(); value != nil {
				answer <- failed(apierr.Panicked(value))
			}
		}()
		answer <- code()
	}()
	select {
	case got := <-answer:
		return got
	case <-ctx.Done():
	}
	timer := clk.NewTimer(lingers)
	defer timer.Stop()
	select {
	case got := <-answer:
		return got
	case <-timer.C():
		cause := context.Cause(ctx)
		return failed(apierr.New(apierr.Unclassified,
			"timed out: the runbook's code did not return within %s after its context ended (%w)",
			lingers, cause))
	}
}

func itself(err error) error { return err }

// try is call for code that gives a value or an error.
func try[T any](ctx context.Context, clk clock.Clock, lingers time.Duration, code func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	got := call(ctx, clk, lingers, func() answer {
		value, err := code()
		return answer{value, err}
	}, func(err error) answer { return answer{err: err} })
	return got.value, got.err
}
