package entrypoint_test

import (
	"encoding/json"
	"testing"

	"salve/internal/pipeline/entrypoint"
	"salve/journal"
	"salve/runbook/runbooktest"
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	book, err := entrypoint.Replayed(&journal.History{}, json.RawMessage(`{"entrypoint":"Example.Region"}`))
	if err != nil {
		t.Fatal(err)
	}
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"service-groups-ready": {
			Readings: []string{
				`[{"serviceGroup":"Example.Region","run":"run-1","refused":""}]`,
				`[{"serviceGroup":"Example.Region","run":"","refused":"run run-2 is open"}]`,
			},
			Said: []string{"[].serviceGroup", "[].run"},
		},
		"service-groups-done": {
			Readings: []string{
				`[{"serviceGroup":"Example.Region","done":true,"run":"run-1","outcome":"rolled-out"}]`,
				`[{"serviceGroup":"Example.Region","done":true,"run":"run-1","outcome":"gone"}]`,
				`[{"serviceGroup":"Example.Region","done":false,"run":"run-1","outcome":""}]`,
				`[{"serviceGroup":"Example.Region","done":true,"run":"run-1","outcome":"failed"}]`,
			},
			Said: []string{"[].serviceGroup", "[].run"},
		},
	}, book)
}
