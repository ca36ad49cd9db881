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
	findings := []byte(`{"for":"start","round":1,"findings":[{"guard":"revision-order","answer":"holds","reason":""},` +
		`{"guard":"content-unmoved","answer":"holds","reason":""},{"guard":"prepared","answer":"holds","reason":""}],"decision":{}}`)
	history := &journal.History{Entries: []journal.Entry{{Seq: 1, Kind: journal.Evaluated, Data: findings}}}
	book, err := rollout.Replayed(history, json.RawMessage(`{"revision":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"revision-order": {
			Readings: []string{
				`{"openBeside":"","revisions":[]}`,
				`{"openBeside":"","revisions":[{"run":"run-1","revision":"a","newer":false,"unordered":"","unread":null,` +
					`"seen":"2026-11-24T12:00:00Z"}]}`,
				`{"openBeside":"","revisions":[{"run":"run-1","revision":"a","newer":true,"unordered":"","unread":null,` +
					`"seen":"2026-11-24T12:00:00Z"}]}`,
			},
			Said:     []string{"revisions[].run", "revisions[].revision"},
			Evidence: []string{"revisions[].seen"},
		},
		"content-unmoved": {
			Readings: []string{
				`{"planned":"a","found":"a","seen":"2026-11-24T12:00:00Z"}`,
				`{"planned":"a","found":"b","seen":"2026-11-24T12:00:00Z"}`,
			},
			Evidence: []string{"seen"},
		},
		"prepared":   {Readings: []string{`{"made":"built","failure":""}`}, Said: []string{"made"}},
		"steps-done": {Readings: []string{`[]`, `["rg/a"]`}, Said: []string{"[]"}},
	}, book)
}
