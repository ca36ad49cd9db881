package replay_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/report/replay"
	"salve/journal"
	"salve/runbook"
)

// TestStaleEvidenceIsTheEnginesOwnDecision: when asking took too long again and again, the engine decides without the
// guards, and so does the replay.
func TestStaleEvidenceIsTheEnginesOwnDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := dark().book()
		slow.Budget = 24 * time.Hour
		slow.Guards[0] = runbook.Ask("dark", "is it dark?", func(context.Context, runbook.Run) (dim, error) {
			time.Sleep(2 * time.Minute)
			return dark().world, nil
		}, dark().dark)
		store := journal.NewMemory()
		machine := &engine.Engine{Journal: store, Clock: clock.RealClock{}, Program: "v1 abc"}
		ran, err := machine.Run(t.Context(), slow, engine.Options{})
		if err != nil || ran.Outcome != runbook.Undecided {
			t.Fatalf("%+v, %v", ran, err)
		}
		record, err := journal.Load(t.Context(), store, ran.Run)
		if err != nil {
			t.Fatal(err)
		}
		result, err := replay.Run(record.History, replay.Options{
			Program: "v1 abc", Make: func(json.RawMessage) (runbook.Runbook, error) { return slow, nil },
		})
		if err != nil || result.Verdict != replay.Same {
			t.Fatalf("%s: %s, %v", result.Verdict, result.Reason, err)
		}
		last := result.Decisions[len(result.Decisions)-1]
		if last.Now.Outcome != runbook.Undecided || last.Guards[0].Name != engine.Freshness {
			t.Errorf("the last decision: %+v", last)
		}
	})
}
