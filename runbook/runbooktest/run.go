package runbooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"salve/journal"
	"salve/runbook"
)

// Run is a fake run, for calling the functions of guards and steps alone. Its zero
// value is ready to use: a run in its first round that noted nothing and did nothing.
// It holds no permit: changes are tested with Apply. It is safe for concurrent use by
// the code under test.
type Run struct {
	// Name is the run's ID; empty means "run-1".
	Name string
	// Rounds is the number of the round; zero means the first.
	Rounds int
	// Steps says how far steps are.
	Steps map[string]runbook.StepStatus
	// Overrides are the operator's reasons, by guard.
	Overrides map[string]string
	// Lost names notes and exports whose reading fails, as that of a record that can't be read any more.
	Lost map[string]error

	mu       sync.Mutex
	notes    map[string]json.RawMessage
	exports  map[string][]byte
	summary  string
	warnings []string
	progress []runbook.Progress
}

var _ runbook.Run = (*Run)(nil)

// ID names the run.
func (r *Run) ID() string {
	if r.Name == "" {
		return "run-1"
	}
	return r.Name
}

// Round is the number of the round.
func (r *Run) Round() int { return max(1, r.Rounds) }

// Note keeps a value in the form in which the journal would.
func (r *Run) Note(ctx context.Context, name string, value any) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("noting %q: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.notes == nil {
		r.notes = map[string]json.RawMessage{}
	}
	r.notes[name] = raw
	return nil
}

// Recall reads a note.
func (r *Run) Recall(name string, into any) (bool, error) {
	if err := r.Lost[name]; err != nil {
		return false, err
	}
	r.mu.Lock()
	raw, found := r.notes[name]
	r.mu.Unlock()
	if !found {
		return false, nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return false, err
	}
	return true, nil
}

// ReadBack reads a note.
func (r *Run) ReadBack(ctx context.Context, name string, into any) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	return r.Recall(name, into)
}

// Export keeps data for ReadExport.
func (r *Run) Export(ctx context.Context, name string, data []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exports == nil {
		r.exports = map[string][]byte{}
	}
	r.exports[name] = append([]byte(nil), data...)
	return nil
}

// ReadExport gives what Export kept.
func (r *Run) ReadExport(ctx context.Context, name string) ([]byte, error) {
	if err := errors.Join(context.Cause(ctx), r.Lost[name]); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	data, found := r.exports[name]
	if !found {
		return nil, &journal.MissingError{Run: r.ID(), Where: "the fake run (export " + name + ")"}
	}
	return append([]byte(nil), data...), nil
}

// Step gives what Steps holds.
func (r *Run) Step(name string) runbook.StepStatus { return r.Steps[name] }

// Override gives what Overrides holds.
func (r *Run) Override(guard string) string { return r.Overrides[guard] }

// Warn keeps a warning for Warnings.
func (r *Run) Warn(ctx context.Context, format string, args ...any) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
	return nil
}

// Summarize keeps what a step did for Summary.
func (r *Run) Summarize(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary = fmt.Sprintf(format, args...)
}

// Summary is what the step said last of what it did.
func (r *Run) Summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary
}

// Report keeps progress for Progress.
func (r *Run) Report(progress runbook.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = append(r.progress, progress)
}

// Warnings are those that the code under test gave.
func (r *Run) Warnings() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.warnings...)
}

// Progress is what the code under test reported.
func (r *Run) Progress() []runbook.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]runbook.Progress(nil), r.progress...)
}
