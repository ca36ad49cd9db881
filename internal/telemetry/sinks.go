package telemetry

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"salve/engine"
)

// Sink is told what happens in runs, by several goroutines when runs are executed at the same time. Tell must not
// block.
type Sink interface {
	Tell(engine.Event)
	// Close delivers what is still to be delivered, for as long as ctx allows, and says what could not be. Nothing is told
	// after it.
	Close(ctx context.Context) error
}

// Sinks tells all of them. The zero Sinks tells nobody.
type Sinks []Sink

// Watch gives a watch of an engine that tells the sinks, and then watch, which may be nil.
func (s Sinks) Watch(watch func(engine.Event)) func(engine.Event) {
	if len(s) == 0 {
		return watch
	}
	return func(event engine.Event) {
		for _, sink := range s {
			tell(sink, event)
		}
		if watch != nil {
			watch(event)
		}
	}
}

// tell keeps a panic of what only looks on from ending the run.
func tell(sink Sink, event engine.Event) {
	defer func() { _ = recover() }()
	sink.Tell(event)
}

// Close closes all of them at the same time, so that one that takes all the time leaves the others theirs, and gives
// what each of them could not deliver.
func (s Sinks) Close(ctx context.Context) error {
	failed := make([]error, len(s))
	var closing sync.WaitGroup
	for i, sink := range s {
		closing.Go(func() { failed[i] = closed(ctx, sink) })
	}
	closing.Wait()
	return errors.Join(failed...)
}

func closed(ctx context.Context, sink Sink) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v", value)
		}
	}()
	return sink.Close(ctx)
}
