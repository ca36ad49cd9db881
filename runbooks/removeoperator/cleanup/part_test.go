package cleanup_test

import (
	"context"
	"encoding/json"
	"testing"

	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// notes is a run of which nothing but its notes is asked.
type notes struct {
	runbook.Run
	kept map[string][]byte
}

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

// TestARemovalThatWasCutShortIsPartial: what is gone or going can't be taken back,
// whichever step it was that start.
func TestARemovalThatWasCutShortIsPartial(t *testing.T) {
	run := notes{kept: map[string][]byte{}}
	for _, row := range []struct {
		step string
		left cleanup.Part
		want bool
	}{
		{step: "delete-objects", left: cleanup.Part{All: 10, Going: 1}, want: false},
		{step: "delete-objects", left: cleanup.Part{All: 10, Going: 2}, want: true},
		{step: "delete-objects", left: cleanup.Part{All: 8}, want: true},
		{step: "delete-definitions", left: cleanup.Part{All: 2}, want: true},
	} {
		seen := row.left.SinceBegun(run, row.step)
		err := seen.Failure()
		if err != nil || len(run.kept) > 0 && seen.Partial != row.want {
			t.Errorf("%s with %+v: %+v, %v", row.step, row.left, seen, err)
		}
		if seen.State != runbook.StateNotStarted {
			t.Errorf("%s with %+v: %s", row.step, row.left, seen.State)
		}
		if err := row.left.Begin(t.Context(), run, row.step); err != nil {
			t.Fatal(err)
		}
	}
	if len(run.kept) != 1 {
		t.Errorf("%d notes", len(run.kept))
	}
}
