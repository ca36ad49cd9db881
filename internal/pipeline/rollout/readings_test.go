package rollout_test

import (
	"encoding/json"
	"testing"

	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook/runbooktest"
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	readings := map[string][]string{
		"revision-order": {
			`{"openBeside":"","revisions":[]}`,
			`{"openBeside":"","revisions":[{"run":"run-1","revision":"a","newer":false,"unordered":"","unread":null,` +
				`"seen":"2026-11-24T12:00:00Z"}]}`,
			`{"openBeside":"","revisions":[{"run":"run-1","revision":"a","newer":true,"unordered":"","unread":null,` +
				`"seen":"2026-11-24T12:00:00Z"}]}`,
		},
		"prepared":   {`{"made":"built","failure":""}`},
		"steps-done": {`[]`, `["rg/a"]`},
	}
	unused := map[string]map[string]string{"revision-order": {"revisions[].seen": "for the evidence"}}
	findings := []byte(`{"for":"start","round":1,"findings":[{"guard":"revision-order","answer":"holds","reason":""},` +
		`{"guard":"prepared","answer":"holds","reason":""}],"decision":{}}`)
	history := &journal.History{Entries: []journal.Entry{{Seq: 1, Kind: journal.Evaluated, Data: findings}}}
	book, err := rollout.Replayed(history, json.RawMessage(`{"revision":"b"}`))
	if err != nil || len(book.Guards) != 2 {
		t.Fatalf("%d guards, %v", len(book.Guards), err)
	}
	for _, guard := range append(book.Guards, book.Checks...) {
		t.Run(guard.Name, func(t *testing.T) {
			var raw []json.RawMessage
			for _, reading := range readings[guard.Name] {
				raw = append(raw, json.RawMessage(reading))
			}
			runbooktest.SweepReadings(t, guard, raw, unused[guard.Name])
		})
	}
}
