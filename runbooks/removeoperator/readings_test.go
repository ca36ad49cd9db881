package removeoperator_test

import (
	"fmt"
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
	names := runbooktest.Row{Readings: []string{`[]`, `["a"]`}, Said: []string{"[]"}}
	alive := func(workloads, pods, leases string) string {
		return fmt.Sprintf(`{"what":{"workloads":%s,"pods":%s,"renewedLeases":%s},"seen":"2026-11-24T12:00:00Z"}`, workloads,
			pods, leases)
	}
	const another = "another guard's"
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"something-left": {
			Readings: []string{recordedLeft, recordedNone},
			Said:     []string{"objects.deleting", "objects.unread", "namespace.of"},
			Evidence: []string{
				"seen", "objects.counts", "objects.digest", "definitions[]", "namespace.name", "namespace.uid",
				"namespace.deleting",
			},
			Unused: map[string]string{"namespace.journal": another, "namespace.hold": another},
		},
		"namespace-expendable": {
			Readings: []string{`null`, recordedNamespace},
			Said:     []string{"hold"},
			Unused:   map[string]string{"name": another, "uid": another, "of": another},
		},
		"selectors-select": names, "no-object-left": names, "no-definition-left": names, "no-hook-left": names,
		"no-namespace-left": names, "nothing-owned-left": names, "nothing-exported-left": names, "namespace-exported": names,
		"operator-gone": {
			Readings: []string{
				alive(`["a"]`, `[]`, `[]`), alive(`[]`, `["b"]`, `[]`), alive(`[]`, `[]`, `["c"]`), alive(`[]`, `[]`, `[]`),
			},
			Said:     []string{"what.workloads[]", "what.pods[]", "what.renewedLeases[]"},
			Evidence: []string{"seen"},
		},
		"cascade-contained": {
			Readings: []string{`{"what":{"count":1,"names":["a"]},"seen":"2026-11-24T12:00:00Z"}`},
			Said:     []string{"what.names"},
			Evidence: []string{"seen"},
		},
		"bundle-kept": {Readings: []string{`{"holds":"2 CRDs","foreign":""}`}, Said: []string{"holds"}},
	}, book)
}
