package stalewebhook_test

import (
	"encoding/json"
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
	of := func(policy, serving, uid string) json.RawMessage { return fmt.Appendf(nil, one, policy, serving, uid) }
	readings := []json.RawMessage{
		[]byte(none), of("Fail", "null", "1"), of("Ignore", "null", "1"), of("Fail", `["a has service x/y"]`, "2"),
	}
	const evidence, another = "for the evidence", "another guard's"
	identity := []string{"configuration.uid", "configuration.resourceVersion", "recorded"}
	for name, unused := range map[string][]string{
		"configuration-exists": append(identity, "configuration.webhooks[]", "serving"),
		"fails-closed":         append(identity, "serving"),
		"services-gone":        append(identity, "configuration.webhooks"),
		"as-recorded":          {"configuration.webhooks", "serving"},
		"configuration-gone":   {"configuration.resourceVersion", "configuration.webhooks", "serving", "recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			reasons := map[string]string{"at": evidence, "configuration.name": evidence}
			for _, path := range unused {
				reasons[path] = another
			}
			runbooktest.SweepReadings(t, guards(book)[name], readings, reasons)
		})
	}
	if len(guards(book)) != 5 {
		t.Errorf("%d guards", len(guards(book)))
	}
}

func guards(book runbook.Runbook) map[string]runbook.Guard {
	all := map[string]runbook.Guard{}
	for _, guard := range append(append(book.Guards, book.Checks...), book.Steps[1].Preconditions...) {
		all[guard.Name] = guard
	}
	return all
}

// TestAnotherTargetIsNotReplayed with these inputs.
func TestAnotherTargetIsNotReplayed(t *testing.T) {
	target := runbook.Target{ID: "aks-1/validatingwebhooks/policy"}
	if _, err := stalewebhook.Replayed(stalewebhook.Inputs{Configuration: "other"}, target); err == nil {
		t.Error("it was")
	}
}
