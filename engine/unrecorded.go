package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"salve/journal"
	"salve/runbook"
)

// UnrecordedError says that a run began and that its journal could not be written any
// more before it announced a change: it is open, and has changed nothing.
type UnrecordedError struct {
	Run string
	Err error
}

func (e *UnrecordedError) Error() string { return fmt.Sprintf("run %s: %v", e.Run, e.Err) }
func (e *UnrecordedError) Unwrap() error { return e.Err }

// unrecorded is the result of a run whose journal could not be written. Before the
// first announced change that is an error: nothing happened. After it nobody may say
// so: the result tells what is known to be done, and gives what only this process
// still knows.
func (x *execution) unrecorded(err error) (Result, error) {
	if !x.changed() {
		return Result{}, &UnrecordedError{Run: x.log.record.Run, Err: err}
	}
	result := x.result(journal.Verdict{
		Outcome:  runbook.NeedsAttention,
		Reason:   fmt.Sprintf("the journal can't be written any more: %v; %s", err, x.standing()),
		Question: "Does the world look as it should? What was announced last may have happened without a record.",
	})
	result.Unrecorded, result.Open = true, true
	x.log.read(func(record *journal.Record) { result.Notes = notesOf(record.Entries) })
	if errors.Is(err, errLeaseLost) {
		result.Question = "Another runner holds the target. What does its run say?"
	}
	return result, nil
}

// notesOf are the newest values of all notes.
func notesOf(entries []journal.Entry) map[string]json.RawMessage {
	notes := map[string]json.RawMessage{}
	for _, entry := range entries {
		var note journal.Note
		if entry.Kind == journal.Noted && json.Unmarshal(entry.Data, &note) == nil {
			notes[note.Name] = note.Value
		}
	}
	return notes
}
