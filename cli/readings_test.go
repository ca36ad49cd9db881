package cli

import (
	"testing"

	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook/runbooktest"
)

// TestEveryFieldOfAReadingIsAskedFor of the guard that pipelines have here besides those of package rollout: without it
// the guard does not decide, and with another value it decides otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	asked := []byte(`{"for":"start","round":1,"findings":[{"guard":"programs-fit","answer":"holds","reason":""}],"decision":{}}`)
	history := &journal.History{
		Header:  journal.Header{Runbook: rollout.Name},
		Entries: []journal.Entry{{Seq: 1, Kind: journal.Evaluated, Data: asked}},
	}
	book, err := (&app{}).replayedBook(history, []byte(`{"revision":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	book.Checks = nil // package rollout's
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"programs-fit": {
			Readings: []string{
				`{"examined":3,"host":"linux/amd64","untold":["step g/a: make deploy"],"unfit":""}`,
				`{"examined":0,"host":"","untold":null,"unfit":"step g/a: bin/tool is for linux/arm64"}`,
			},
			Said: []string{"examined", "host", "untold"},
		},
	}, book)
}
