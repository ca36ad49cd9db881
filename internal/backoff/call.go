package backoff

import (
	"context"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
)

const (
	// CallTimeout bounds one request to a world and its answer.
	CallTimeout = 30 * time.Second
	// readPatience bounds a read with its repetitions.
	readPatience = 2 * time.Minute
)

// Once makes one call within CallTimeout.
func Once(ctx context.Context, clk clock.Clock, call func(context.Context) error) error {
	limited, cancel := clock.WithTimeout(ctx, clk, CallTimeout)
	defer cancel()
	return call(limited)
}

// Retry does a read, and repeats it while it fails with class Transient or
// Throttled, for two minutes at most or until ctx ends. The last error is given
// back. It is for reads only: a change is never repeated without being evaluated again.
// What waiting does not help against is not repeated.
func Retry(ctx context.Context, clk clock.Clock, call func(context.Context) error) error {
	limited, cancel := clock.WithTimeout(ctx, clk, readPatience)
	defer cancel()
	started, notices := clk.Now(), NoticesOf(ctx)
	for n := 1; ; n++ {
		err := Once(limited, clk, call)
		if err == nil {
			return nil
		}
		class := apierr.ClassOf(err)
		clears := (class == apierr.Transient || class == apierr.Throttled) && !apierr.IsPermanent(err)
		if !clears || limited.Err() != nil {
			return err
		}
		again := clk.Now().Add(Refusals().Pause(n, apierr.RetryAfter(err)))
		for left := again.Sub(clk.Now()); left > 0; left = again.Sub(clk.Now()) {
			due := notices.Tell(Notice{Err: err, Waited: clk.Since(started), Pause: left})
			if clock.Sleep(limited, clk, min(left, due)) != nil {
				return err
			}
		}
	}
}

// Poll reads until what is waited for is done, by the schedule of Operations. It fails
// with the error of a read, or when ctx ends.
func Poll(ctx context.Context, clk clock.Clock, read func(context.Context) (done bool, _ error)) error {
	for start := clk.Now(); ; {
		if done, err := read(ctx); done || err != nil {
			return err
		}
		if err := clock.Sleep(ctx, clk, Operations().Next(clk.Since(start), 0)); err != nil {
			return err
		}
	}
}
