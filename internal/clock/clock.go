package clock

import (
	"context"
	"time"

	kclock "k8s.io/utils/clock"
)

// Clock is the injected time: what it takes to pause and to set deadlines.
// Real is one.
type Clock interface {
	kclock.WithDelayedExecution
}

// Real is the clock of the machine.
type Real = kclock.RealClock

// Sleep waits for d, or until ctx ends, and then gives the context's cause.
func Sleep(ctx context.Context, clk Clock, d time.Duration) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if d <= 0 {
		return nil
	}
	timer := clk.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// WithTimeout is context.WithTimeout on the injected clock. The context's Err is
// context.Canceled, as for any cancelled context; its Cause is
// context.DeadlineExceeded when the time ran out.
func WithTimeout(ctx context.Context, clk Clock, d time.Duration) (context.Context, context.CancelFunc) {
	return WithTimeoutCause(ctx, clk, d, context.DeadlineExceeded)
}

// WithTimeoutCause is WithTimeout with a cause of its own.
func WithTimeoutCause(
	ctx context.Context, clk Clock, d time.Duration, cause error,
) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	timer := clk.AfterFunc(d, func() { cancel(cause) })
	return limited, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}
