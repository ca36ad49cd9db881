package entrypoint

import (
	"bytes"
	"encoding/json"
	"fmt"

	"salve/journal"
	"salve/runbook"
)

// Replayed makes the runbook of a recorded rollout for its decisions alone, as a replay makes it: guards decide from
// recorded readings, and nothing is read.
func Replayed(history *journal.History, inputs json.RawMessage) (runbook.Runbook, error) {
	decoder := json.NewDecoder(bytes.NewReader(inputs))
	decoder.DisallowUnknownFields()
	w := &work{plan: &Plan{}}
	if err := decoder.Decode(&w.plan.Inputs); err != nil {
		return runbook.Runbook{}, fmt.Errorf("the inputs of run %q: %w", history.Header.Run, err)
	}
	return runbook.Runbook{
		Name: Name, Version: version, Target: history.Header.Target, Inputs: w.plan.Inputs, Budget: budget,
		Success: runbook.RolledOut, Guards: []runbook.Guard{w.ready()}, Checks: []runbook.Guard{w.allDone()},
	}, nil
}
