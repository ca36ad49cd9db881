package telemetry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/telemetry"
	"salve/internal/telemetry/telemetrytest"
	"salve/runbook"
)

// panicking is a sink with a mistake in it.
type panicking struct{}

func (panicking) Tell(engine.Event)           { panic("told") }
func (panicking) Close(context.Context) error { panic("closed") }

type counting struct{ events, closed int }

func (c *counting) Tell(engine.Event) { c.events++ }
func (c *counting) Close(context.Context) error {
	c.closed++
	return errors.New("no network")
}

func TestASinkThatPanicsEndsNothing(t *testing.T) {
	after, watched := &counting{}, 0
	sinks := telemetry.Sinks{panicking{}, after}
	result := telemetrytest.Run{Watch: sinks.Watch(func(engine.Event) { watched++ })}.Execute(t)
	if result.Outcome != runbook.Remediated {
		t.Errorf("the run is %s: %s", result.Outcome, result.Reason)
	}
	if after.events == 0 || after.events != watched {
		t.Errorf("%d events were told to the sink after it, %d to who watches", after.events, watched)
	}
	if err := sinks.Close(t.Context()); err == nil || err.Error() != "panic: closed\nno network" || after.closed != 1 {
		t.Errorf("closing gives %v, and closed the other %d times", err, after.closed)
	}
}

func TestWithoutSinksTheWatchIsTheSame(t *testing.T) {
	if telemetry.Sinks(nil).Watch(nil) != nil {
		t.Error("an engine is watched by nobody, and is told that it is watched")
	}
	if err := telemetry.Sinks(nil).Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// late is a sink that needs until another one is closed.
type late struct{ other <-chan struct{} }

func (late) Tell(engine.Event) {}
func (l late) Close(ctx context.Context) error {
	select {
	case <-l.other:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// first is the other one.
type first struct{ closed chan struct{} }

func (first) Tell(engine.Event) {}
func (f first) Close(ctx context.Context) error {
	close(f.closed)
	return context.Cause(ctx)
}

// TestASinkThatTakesAllTheTimeLeavesTheOthersTheirs: a webhook that hangs keeps no trace from being delivered.
func TestASinkThatTakesAllTheTimeLeavesTheOthersTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		closed := make(chan struct{})
		if err := (telemetry.Sinks{late{closed}, first{closed}}).Close(ctx); err != nil {
			t.Error(err)
		}
	})
}
