package engine

import (
	"context"
	"fmt"

	"salve/journal"
	"salve/runbook"
)

// view is what a guard or a step sees of its run: the same for all, save that what
// it notes, warns and reports is its step's.
type view struct {
	*execution
	step string
}

// ID names the run.
func (v view) ID() string { return v.log.record.Run }

// Round counts the readings of the world, from 1.
func (v view) Round() int { return int(v.round.Load()) }

// Note journals a value.
func (v view) Note(ctx context.Context, name string, value any) error {
	raw, err := encodeJSON(value)
	if err != nil {
		return fmt.Errorf("noting %q: %w", name, err)
	}
	return notKept(v.log.append(ctx, journal.Pending{Kind: journal.Noted, Step: v.step,
		Data: journal.Note{Name: name, Value: raw}}))
}

// Recall reads a value back.
func (v view) Recall(name string, into any) (found bool, err error) {
	v.log.read(func(record *journal.Record) { found, err = record.RecallOf(v.step, name, into) })
	return found, err
}

// ReadBack reads a value from the journal's backend.
func (v view) ReadBack(ctx context.Context, name string, into any) (bool, error) {
	var stored journal.Stored
	found := false
	v.log.read(func(record *journal.Record) { stored, found = record.Stored(v.step, name) })
	if !found {
		return false, nil
	}
	if err := stored.Read(ctx, into); err != nil {
		return false, err
	}
	return true, nil
}

// Export keeps data beside the record.
func (v view) Export(ctx context.Context, name string, data []byte) error {
	return notKept(v.log.export(context.WithoutCancel(ctx), name, data))
}

// ReadExport gives the newest export of a name.
func (v view) ReadExport(ctx context.Context, name string) ([]byte, error) {
	return v.log.record.ReadExport(ctx, name)
}

// Step tells how far a step is.
func (v view) Step(name string) runbook.StepStatus {
	history := v.log.step(name)
	return runbook.StepStatus{
		Attempts: history.Attempts, Done: history.Finished(), Skipped: history.Skipped(),
		Unsettled: history.Unsettled(), Reason: history.Last.Reason,
	}
}

// Override is the reason for going on though a guard does not hold.
func (v view) Override(guard string) string { return v.overrides()[guard] }

// Warn journals and shows a problem.
func (v view) Warn(ctx context.Context, format string, args ...any) error {
	return v.warn(ctx, v.step, fmt.Sprintf(format, args...))
}

// Summarize keeps what the step did as the reason of its outcome.
func (v view) Summarize(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.summaries[v.step] = fmt.Sprintf(format, args...)
}

// Report shows progress, or what a step waits for.
func (v view) Report(progress runbook.Progress) {
	if progress.Waiting {
		v.emit(Event{Kind: Waiting, Step: v.step, Text: progress.Text})
		return
	}
	v.emit(Event{Kind: StepMoved, Step: v.step, Progress: &progress})
}
