package actionprogram_test

import (
	"strings"
	"testing"

	"salve/journal"
)

// TestWhatAProgramLeavesIsEnded: also what has left its group, as a runner that was killed would leave it.
func TestWhatAProgramLeavesIsEnded(t *testing.T) {
	const leaves = `setsid sh -c 'touch left; exec sleep 601' >/dev/null 2>&1 & until test -e left; do :; done; `
	b := newBench(t, situation{observe: notDone, apply: leaves + makes})
	if outcome := b.action.Run(t.Context(), b.attempt); outcome.Result != journal.Done {
		t.Fatalf("%s: %s", outcome.Result, outcome.Reason)
	}
	if said, err := b.action.Clear(t.Context(), "run-2", b.attempt.Step.ID()); err != nil || said != "" {
		t.Errorf("of another run it ended %q, %v", said, err)
	}
	said, err := b.action.Clear(t.Context(), "run-1", b.attempt.Step.ID())
	if err != nil || !strings.Contains(said, "sleep 601") && !strings.Contains(said, "left") {
		t.Errorf("ended %q, %v", said, err)
	}
}
