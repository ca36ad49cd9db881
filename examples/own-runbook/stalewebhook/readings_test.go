package stalewebhook_test

import (
	"fmt"
	"testing"

	"example.com/fleet/stalewebhook"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	book, err := stalewebhook.Replayed(stalewebhook.Inputs{Configuration: "policy"},
		runbook.Target{ID: "aks-1/validatingwebhooks/policy"})
	if err != nil {
		t.Fatal(err)
	}
	const (
		one = `{"configuration":{"name":"policy","uid":"1","resourceVersion":"2","webhooks":[{"name":"a",` +
			`"failurePolicy":%q}]},"serving":%s,"at":"2026-11-24T12:00:00Z","recorded":{"uid":%q,"resourceVersion":"2"}}`
		none = `{"configuration":null,"serving":null,"at":"2026-11-24T12:00:00Z","recorded":{"uid":"1","resourceVersion":"2"}}`
	)
	of := func(policy, serving, uid string) string { return fmt.Sprintf(one, policy, serving, uid) }
	readings := []string{none, of("Fail", "null", "1"), of("Ignore", "null", "1"), of("Fail", `["a has service x/y"]`, "2")}
	const name, at = "configuration.name", "at"
	const uid, version, webhooks = "configuration.uid", "configuration.resourceVersion", "configuration.webhooks"
	row := func(said, evidence []string, unused ...string) runbooktest.Row {
		row := runbooktest.Row{Readings: readings, Said: said, Evidence: evidence, Unused: map[string]string{}}
		for _, path := range unused {
			row.Unused[path] = "all guards share the reading"
		}
		return row
	}
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"configuration-exists": row([]string{webhooks}, []string{name, uid, version, at}, "recorded", webhooks+"[]", "serving"),
		"fails-closed":         row([]string{webhooks + "[].name"}, nil, name, uid, version, at, "recorded", "serving"),
		"services-gone":        row([]string{"serving[]"}, nil, name, uid, version, at, "recorded", webhooks),
		"as-recorded":          row(nil, nil, name, at, webhooks, "serving"),
		"configuration-gone":   row([]string{uid}, nil, name, version, at, webhooks, "serving", "recorded"),
	}, book)
}

// TestAnotherTargetIsNotReplayed with these inputs.
func TestAnotherTargetIsNotReplayed(t *testing.T) {
	target := runbook.Target{ID: "aks-1/validatingwebhooks/policy"}
	if _, err := stalewebhook.Replayed(stalewebhook.Inputs{Configuration: "other"}, target); err == nil {
		t.Error("it was")
	}
}
