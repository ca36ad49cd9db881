package removeoperator_test

import (
	"context"
	"encoding/json"
	"fmt"

	"salve/internal/apierr"
	"salve/runbook"
)

// memory is a run that keeps what a run keeps, and shows nothing.
type memory struct {
	notes, exports map[string][]byte
}

var _ runbook.Run = memory{}

func newMemory() memory {
	return memory{notes: map[string][]byte{}, exports: map[string][]byte{}}
}

func (memory) ID() string { return "run-1" }

func (memory) Round() int { return 1 }

func (m memory) Note(_ context.Context, name string, value any) (err error) {
	m.notes[name], err = json.Marshal(value)
	return err
}

func (m memory) Recall(name string, into any) (bool, error) {
	raw, found := m.notes[name]
	if !found {
		return false, nil
	}
	return true, json.Unmarshal(raw, into)
}

func (m memory) ReadBack(_ context.Context, name string, into any) (bool, error) {
	return m.Recall(name, into)
}

func (m memory) Export(_ context.Context, name string, data []byte) error {
	m.exports[name] = append([]byte{}, data...)
	return nil
}

func (m memory) ReadExport(_ context.Context, name string) ([]byte, error) {
	data, found := m.exports[name]
	if !found {
		return nil, apierr.New(apierr.Missing, "not found: export %q", name)
	}
	return data, nil
}

func (memory) Step(string) runbook.StepStatus { return runbook.StepStatus{} }

func (memory) Override(string) string { return "" }

func (m memory) Warn(ctx context.Context, format string, args ...any) error {
	return m.Note(ctx, "warning", fmt.Sprintf(format, args...))
}

func (memory) Summarize(string, ...any) {}

func (memory) Report(runbook.Progress) {}
