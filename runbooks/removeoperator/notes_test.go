package removeoperator_test

import (
	"context"
	"encoding/json"

	"salve/runbook"
)

// notes is a run of which nothing but its notes is asked.
type notes struct {
	runbook.Run
	kept map[string][]byte
}

func (n notes) ID() string { return "run-1" }

func (n notes) Report(runbook.Progress) {}

func (n notes) Note(_ context.Context, name string, value any) (err error) {
	n.kept[name], err = json.Marshal(value)
	return err
}

func (n notes) Recall(name string, into any) (bool, error) {
	raw, found := n.kept[name]
	if !found {
		return false, nil
	}
	return true, json.Unmarshal(raw, into)
}

func (n notes) ReadBack(_ context.Context, name string, into any) (bool, error) {
	return n.Recall(name, into)
}
