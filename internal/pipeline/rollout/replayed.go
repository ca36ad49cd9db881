package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"salve/journal"
	"salve/runbook"
)

// Replayed makes the runbook of a rollout for its decisions alone, as a replay makes it: guards decide from recorded
// readings, and nothing is read. The record names the pipeline and does not hold it, so the runbook has those guards
// that the record was asked; others are those that a runner adds.
func Replayed(history *journal.History, inputs json.RawMessage, others ...runbook.Guard) (runbook.Runbook, error) {
	decoder := json.NewDecoder(bytes.NewReader(inputs))
	decoder.DisallowUnknownFields()
	plan := &Plan{}
	if err := decoder.Decode(&plan.Inputs); err != nil {
		return runbook.Runbook{}, fmt.Errorf("the inputs of run %q: %w", history.Header.Run, err)
	}
	asked, err := askedOf(history)
	if err != nil {
		return runbook.Runbook{}, err
	}
	nothing := func(context.Context) (string, error) { return "", errors.New("a replay reads and prepares nothing") }
	runner := &Runner{Prepare: nothing, Content: nothing}
	w := newWork(runner, plan)
	book := runbook.Runbook{
		Name: Name, Version: version, Target: history.Header.Target, Inputs: plan.Inputs, Budget: budget,
		Success: runbook.RolledOut, Checks: []runbook.Guard{w.allDone()},
	}
	runner.Guards = others
	for _, guard := range w.guards() {
		if asked[guard.Name] {
			book.Guards = append(book.Guards, guard)
		}
	}
	return book, nil
}

// askedOf are the guards that a record names, whether or not their turn came.
func askedOf(history *journal.History) (map[string]bool, error) {
	asked := map[string]bool{}
	for _, entry := range history.Entries {
		if entry.Kind != journal.Evaluated {
			continue
		}
		var evaluation journal.Evaluation
		if err := json.Unmarshal(entry.Data, &evaluation); err != nil {
			return nil, fmt.Errorf("entry %d of run %q: %w", entry.Seq, history.Header.Run, err)
		}
		for _, finding := range evaluation.Findings {
			asked[finding.Guard] = true
		}
		for _, name := range evaluation.Missing {
			asked[name] = true
		}
	}
	return asked, nil
}
