package armdeployment_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/armdeployment"
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	in := armdeployment.Inputs{
		Subscription: "5a1e0000-0000-4000-8000-000000000001", ResourceGroup: "fleet", Deployment: "vault",
	}
	book, err := armdeployment.Replayed(in, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	const standing = `{"found":true,"state":%q,"correlationID":"c","startedBy":%q,"content":"a","run":"run-1","wanted":"a",` +
		`"seen":"2026-11-24T12:00:00Z"}`
	reading := func(state, by string) json.RawMessage { return json.RawMessage(fmt.Sprintf(standing, state, by)) }
	evidence := "for the evidence"
	unused := map[string]map[string]string{
		"nothing-active": {"correlationID": evidence, "seen": evidence, "content": evidence, "wanted": "for the check"},
		"deployed":       {"correlationID": evidence, "seen": evidence},
	}
	readings := map[string][]json.RawMessage{
		"scope-there": {json.RawMessage(`{"found":true,"location":"westeurope"}`)},
		"nothing-active": {
			reading("Succeeded", "run-1"), reading("Running", "run-1"), reading("Running", "run-2"), reading("Running", ""),
		},
		"deployed": {reading("Succeeded", "run-1"), reading("Failed", "run-1"), reading("Succeeded", "")},
	}
	for _, guard := range append(book.Guards, book.Checks...) {
		t.Run(guard.Name, func(t *testing.T) {
			runbooktest.SweepReadings(t, guard, readings[guard.Name], unused[guard.Name])
		})
	}
}
