package removeoperator_test

import (
	"encoding/json"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/removeoperator"
)

// recordedLeft are readings of what an operator left: something, and nothing.
const (
	recordedLeft = `{"definitions":[{"name":"CRD a","uid":"u","deleting":false}],"objects":{"total":2,"deleting":1,` +
		`"unread":["a"],"counts":{"a":2},"digest":"d"},"hooks":1,"owned":3,"namespace":{"name":"namespace op","uid":"n",` +
		`"deleting":false,"of":"op","journal":[],"hold":""},"seen":"2026-11-24T12:00:00Z"}`
	recordedNone = `{"definitions":[],"objects":{"total":0,"deleting":0,"unread":null,"counts":null,"digest":""},` +
		`"hooks":0,"owned":0,"namespace":null,"seen":"2026-11-24T12:00:00Z"}`
	recordedNamespace = `{"name":"namespace op","uid":"n","deleting":true,"of":"op","journal":[],"hold":", and it waits"}`
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	in := removeoperator.Defaults()
	in.Group, in.Namespace, in.Selectors, in.StopOperator = "example.io", "op", []string{"app=op"}, false
	book, err := removeoperator.Replayed(in, runbook.Target{ID: "cluster/example.io"})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{`[]`, `["a"]`}
	readings := map[string][]string{
		"something-left":       {recordedLeft, recordedNone},
		"namespace-expendable": {`null`, recordedNamespace},
		"selectors-select":     names, "no-object-left": names, "no-definition-left": names, "no-hook-left": names,
		"no-namespace-left": names, "nothing-owned-left": names, "nothing-exported-left": names, "namespace-exported": names,
		"operator-gone": {
			`{"what":{"workloads":["a"],"pods":["b"],"renewedLeases":["c"]},"seen":"2026-11-24T12:00:00Z"}`,
		},
		"cascade-contained": {`{"what":{"count":1,"names":["a"]},"seen":"2026-11-24T12:00:00Z"}`},
		"bundle-kept":       {`{"holds":"2 CRDs","foreign":""}`},
	}
	const evidence = "for the evidence"
	unused := map[string]map[string]string{
		"something-left": {
			"seen": evidence, "objects.counts": evidence, "objects.digest": evidence, "definitions[]": evidence,
			"namespace.name": evidence, "namespace.uid": evidence, "namespace.deleting": evidence,
			"namespace.journal": "another guard's", "namespace.hold": "another guard's",
		},
		"namespace-expendable": {"name": "another guard's", "uid": evidence, "of": "another guard's"},
		"operator-gone":        {"seen": evidence},
		"cascade-contained":    {"seen": evidence},
	}
	for _, guard := range everyGuard(book) {
		t.Run(guard.Name, func(t *testing.T) {
			var raw []json.RawMessage
			for _, reading := range readings[guard.Name] {
				raw = append(raw, json.RawMessage(reading))
			}
			runbooktest.SweepReadings(t, guard, raw, unused[guard.Name])
		})
	}
}

// everyGuard is each guard, precondition and check of a runbook.
func everyGuard(book runbook.Runbook) []runbook.Guard {
	all := append(append([]runbook.Guard{}, book.Guards...), book.Checks...)
	for _, step := range book.Steps {
		all = append(all, step.Preconditions...)
		if step.Rollback != nil {
			all = append(all, step.Rollback.Preconditions...)
		}
	}
	return all
}
