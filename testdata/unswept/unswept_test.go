package unswept

import (
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

func TestSwept(t *testing.T) {
	runbooktest.SweepGuards(t, runbooktest.Rows{"swept": {}}, book(t))
}

func TestUndo(*testing.T) {
	_, _ = ReplayedUndo()
	_ = map[string]bool{"row-of-something-else": true}
}

func book(*testing.T) runbook.Runbook {
	made, _ := Replayed()
	return made
}
