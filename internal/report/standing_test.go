package report_test

import (
	"testing"

	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// TestStandingIsInFieldsOfItsOwn: a program needs no text to be taken apart.
func TestStandingIsInFieldsOfItsOwn(t *testing.T) {
	asked := &journal.Question{}
	for name, one := range map[string]struct {
		history *journal.History
		want    report.Standing
	}{
		"under way": {&journal.History{}, report.Standing{Phase: report.PhaseOpen}},
		"waiting for approval": {&journal.History{Asked: asked},
			report.Standing{Phase: report.PhaseOpen, WaitsFor: report.ForApproval}},
		"parked": {&journal.History{Parked: &journal.Verdict{Outcome: runbook.NeedsAttention}},
			report.Standing{Phase: report.PhaseOpen, Outcome: runbook.NeedsAttention, WaitsFor: report.ForOperator}},
		"interrupted while it waited": {
			&journal.History{Asked: asked, Parked: &journal.Verdict{Outcome: runbook.NeedsAttention}},
			report.Standing{Phase: report.PhaseOpen, Outcome: runbook.NeedsAttention, WaitsFor: report.ForOperator}},
		"closed": {&journal.History{Asked: asked, Closed: &journal.Verdict{Outcome: runbook.Failed}},
			report.Standing{Phase: report.PhaseClosed, Outcome: runbook.Failed}},
	} {
		if got := report.StandingOf(one.history); got != one.want {
			t.Errorf("%s: %+v, want %+v", name, got, one.want)
		}
	}
}
