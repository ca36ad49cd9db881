package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"salve/journal"
)

// log writes to the record for all steps at work. Entries that are asked for while
// another write is under way are written together with the next: many steps cost
// few syncs. After a write that failed nothing is written any more, because it is
// not known what of it is there.
type log struct {
	record *journal.Record

	// turn holds one token while an entry is being made durable; it guards lost.
	// Nobody who only reads waits for it: steps that go on meanwhile fill the next
	// batch.
	turn chan struct{}
	lost error

	queue   sync.Mutex
	pending []*write
}

func newLog(record *journal.Record) *log { return &log{record: record, turn: make(chan struct{}, 1)} }

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

func (l *log) flush(ctx context.Context) {
	l.queue.Lock()
	batch := l.pending
	l.pending = nil
	l.queue.Unlock()
	var drafts []journal.Pending
	for _, w := range batch {
		drafts = append(drafts, w.drafts...)
	}
	if l.lost == nil && len(drafts) > 0 {
		if err := l.record.AppendAll(ctx, drafts...); err != nil {
			l.lost = &journalError{err}
			var lost *journal.LostError
			if errors.As(err, &lost) {
				l.lost = fmt.Errorf("%w: %w", errLeaseLost, err)
			}
		}
	}
	for _, w := range batch {
		w.err = l.lost
		close(w.done)
	}
}

// export keeps data beside the record, which then holds its digest.
func (l *log) export(ctx context.Context, name string, data []byte) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.lost == nil {
		if err := l.record.PutExport(ctx, name, data); err != nil {
			l.lost = &journalError{err}
		}
	}
	return l.lost
}

// read sees the record while nothing is added to it.
func (l *log) read(see func(*journal.Record)) { l.record.View(see) }

// step is the history of a step.
func (l *log) step(name string) (history journal.StepHistory) {
	l.read(func(record *journal.Record) { history = record.Step(name) })
	return history
}

// journalError marks what makes it unlawful to go on: the record can't be kept.
type journalError struct{ err error }

func (e *journalError) Error() string { return e.err.Error() }
func (e *journalError) Unwrap() error { return e.err }
