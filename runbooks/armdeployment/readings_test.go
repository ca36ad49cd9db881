package armdeployment_test

import (
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
	reading := func(state, by string) string { return fmt.Sprintf(standing, state, by) }
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"scope-there": {
			Readings: []string{
				`{"found":true,"location":"westeurope"}`, `{"name":"new","found":false,"location":"","createIn":"westeurope"}`,
				`{"name":"new","found":false,"location":""}`,
			},
			Said: []string{"location", "name"},
		},
		"group-there": {
			Readings: []string{
				`{"name":"new","found":true,"location":"westeurope","createIn":"westeurope"}`,
				`{"name":"new","found":false,"location":"","createIn":"westeurope"}`,
			},
			Said: []string{"name"}, Unused: map[string]string{"location": "for operators", "createIn": "for the guard before"},
		},
		"nothing-active": {
			Readings: []string{
				reading("Succeeded", "run-1"), reading("Running", "run-1"), reading("Running", "run-2"), reading("Running", ""),
			},
			Evidence: []string{"correlationID", "content", "seen"},
			Unused:   map[string]string{"wanted": "for the check"},
		},
		"deployed": {
			Readings: []string{reading("Succeeded", "run-1"), reading("Failed", "run-1"), reading("Succeeded", "")},
			Evidence: []string{"correlationID", "seen"},
		},
	}, book)
}
