package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"salve/internal/apierr"
	"salve/journal"
)

// log writes to the record for all steps at work. Entries that are asked for while
// another write is under way are written together with the next: many steps cost
// few syncs. After a write that failed the record takes nothing any more, because it
// is not known what of it is there.
type log struct {
	record *journal.Record
	write  appender

	// turn holds one token while an entry is being made durable. Nobody who only
	// reads waits for it: steps that go on meanwhile fill the next batch.
	turn chan struct{}

	queue   sync.Mutex
	pending []*write
}

// appender makes entries durable together.
type appender func(ctx context.Context, drafts ...journal.Pending) error

func newLog(record *journal.Record, write appender) *log {
	return &log{record: record, write: write, turn: make(chan struct{}, 1)}
}

// writer adds entries to a record, and tells of it who asked to be told.
func (e *Engine) writer(record *journal.Record) appender {
	if e.Appended == nil {
		return record.AppendAll
	}
	return func(ctx context.Context, drafts ...journal.Pending) error {
		began := e.Clock.Now()
		err := record.AppendAll(ctx, drafts...)
		e.Appended(len(drafts), e.Clock.Since(began), err)
		return err
	}
}

// write is entries that must be durable together before who asked goes on.
type write struct {
	drafts []journal.Pending
	done   chan struct{}
	err    error
}

// append writes entries in their order and returns when they are durable. It writes
// also when ctx has ended: what happened must be written down. Whoever has the turn
// writes for all who wait, and nobody for those who come later.
func (l *log) append(ctx context.Context, drafts ...journal.Pending) error {
	w := &write{drafts: drafts, done: make(chan struct{})}
	l.queue.Lock()
	l.pending = append(l.pending, w)
	l.queue.Unlock()
	select {
	case <-w.done:
	case l.turn <- struct{}{}:
		l.flush(context.WithoutCancel(ctx))
		<-l.turn
	}
	return w.err
}

// flush writes what is pending. A batch whose entries can't all be encoded was not
// written at all: then each write is made by itself.
func (l *log) flush(ctx context.Context) {
	l.queue.Lock()
	batch := l.pending
	l.pending = nil
	l.queue.Unlock()
	var drafts []journal.Pending
	for _, w := range batch {
		drafts = append(drafts, w.drafts...)
	}
	var err error
	if len(drafts) > 0 {
		err = fenced(l.write(ctx, drafts...))
	}
	for _, w := range batch {
		w.err = err
		if err != nil && !ends(err) && len(batch) > 1 {
			w.err = fenced(l.write(ctx, w.drafts...))
		}
		close(w.done)
	}
}

// export keeps data beside the record, which then holds its digest.
func (l *log) export(ctx context.Context, name string, data []byte) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return fenced(l.record.PutExport(ctx, name, data))
}

// fenced marks the error of a write that another runner prevented.
func fenced(err error) error {
	var lost *journal.LostError
	if errors.As(err, &lost) {
		return fmt.Errorf("%w: %w", errLeaseLost, err)
	}
	return err
}

// notKept classes the error of data that could not be kept although the record can
// be: nothing happened, and trying again gives the same unless the backend says
// otherwise. The step that needs the data must not make its change.
func notKept(err error) error {
	if err == nil || ends(err) || apierr.ClassOf(err) != apierr.Unclassified {
		return err
	}
	return &apierr.Error{Class: apierr.Terminal, Err: err}
}

// read sees the record while nothing is added to it.
func (l *log) read(see func(*journal.Record)) { l.record.View(see) }

// step is the history of a step.
func (l *log) step(name string) (history journal.StepHistory) {
	l.read(func(record *journal.Record) { history = record.Step(name) })
	return history
}
