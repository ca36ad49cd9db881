package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"salve/internal/apierr"
)

// Record is one run's journal, open for appending.
type Record struct {
	*History
	Run     string
	backend Backend
	now     func() time.Time
	epoch   int64
	head    string
}

// Create opens a new record with its header.
func Create(ctx context.Context, backend Backend, now func() time.Time, epoch int64, header Header) (*Record, error) {
	if err := backend.Create(ctx, header.Run); err != nil {
		return nil, fmt.Errorf("creating the journal of run %q: %w", header.Run, err)
	}
	history, _ := replay(nil)
	record := &Record{History: history, Run: header.Run, backend: backend, now: now, epoch: epoch}
	return record, record.Append(ctx, Opened, "", header)
}

// Load reads a run's record and verifies it. It fails with *BrokenError or
// *MissingError.
func Load(ctx context.Context, backend Backend, run string) (*Record, error) {
	lines, err := backend.Read(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("reading the journal of run %q: %w", run, err)
	}
	entries, head, err := decode(run, lines)
	if err != nil {
		return nil, err
	}
	history, err := replay(entries)
	if err != nil {
		return nil, &BrokenError{Run: run, Line: len(entries), Reason: err.Error(), Target: targetOf(entries)}
	}
	return &Record{History: history, Run: run, backend: backend, head: head}, nil
}

// Detached gives a copy that goes on from here and is kept nowhere: for looking
// ahead.
func (r *Record) Detached(ctx context.Context, now func() time.Time) (*Record, error) {
	history, err := replay(r.Entries)
	if err != nil {
		return nil, err
	}
	nowhere := NewMemory()
	return &Record{History: history, Run: r.Run, backend: nowhere, now: now, head: r.head, epoch: r.Epoch}, nowhere.Create(ctx, r.Run)
}

// Backend is where the record is kept.
func (r *Record) Backend() Backend { return r.backend }

// Continue makes a loaded record writable under a new lease.
func (r *Record) Continue(now func() time.Time, epoch int64) {
	r.now, r.epoch = now, epoch
}

// Draft is an entry before it is written.
type Draft struct {
	Kind Kind
	Step string
	Data any
}

// Append writes an entry, durably. When it fails, nothing may be done that the
// entry announces.
func (r *Record) Append(ctx context.Context, kind Kind, step string, data any) error {
	return r.AppendAll(ctx, Draft{kind, step, data})
}

// AppendAll writes entries in their order, durably, and at the cost of one where
// the backend can. When it fails, a beginning of them may be there, and nothing
// may be done that any of them announces.
func (r *Record) AppendAll(ctx context.Context, drafts ...Draft) error {
	entries, lines, head := make([]Entry, 0, len(drafts)), make([][]byte, 0, len(drafts)), r.head
	for _, draft := range drafts {
		if r.Away != nil && draft.Kind != Arrived && draft.Kind != Closed {
			return apierr.New(apierr.Conflict, "the record of run %q was moved to %s: it is closed here", r.Run, r.Away.Where)
		}
		raw, err := json.Marshal(draft.Data)
		if err != nil {
			return fmt.Errorf("encoding %s of step %q for the journal: %w", draft.Kind, draft.Step, err)
		}
		entry := Entry{
			Seq: len(r.Entries) + len(entries) + 1, At: r.now().UTC(), Kind: draft.Kind, Epoch: r.epoch,
			Step: draft.Step, Data: raw, Prev: head,
		}
		line, sum, err := encode(entry)
		if err != nil {
			return err
		}
		entries, lines, head = append(entries, entry), append(lines, line), sum
	}
	if err := appendLines(ctx, r.backend, r.Run, len(r.Entries)+1, lines); err != nil {
		return fmt.Errorf("writing %s of step %q to the journal: %w", drafts[0].Kind, drafts[0].Step, err)
	}
	r.head = head
	for _, entry := range entries {
		if err := r.add(entry); err != nil {
			return err
		}
	}
	return nil
}

// Find gives the records that match, oldest first. A record that can't be read
// is reported through broken and left out.
func Find(ctx context.Context, backend Backend, match func(*History) bool, broken func(run string, err error)) ([]*Record, error) {
	runs, err := backend.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the journal: %w", err)
	}
	var found []*Record
	for _, run := range runs {
		record, err := Load(ctx, backend, run)
		if err != nil {
			broken(run, err)
			continue
		}
		if len(record.Entries) > 0 && match(record.History) {
			found = append(found, record)
		}
	}
	return found, nil
}
