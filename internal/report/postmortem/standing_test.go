package postmortem_test

import (
	"testing"
	"time"

	"salve/internal/report"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
	"salve/runbook"
)

// TestWhatAnOpenRunWaitsForIsTold: as its record ends, or as it stood where the draft's bounds end.
func TestWhatAnOpenRunWaitsForIsTold(t *testing.T) {
	opened := func() *reporttest.Writer {
		return reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"})
	}
	parked := func(w *reporttest.Writer) *reporttest.Writer {
		return w.Write(journal.Parked, "", journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "look"})
	}
	asked := func(w *reporttest.Writer) *reporttest.Writer {
		return w.Write(journal.Asked, "", journal.Question{Requester: journal.Identity{User: "ann"}})
	}
	goesOn := func(w *reporttest.Writer) *reporttest.Writer {
		return w.After(time.Hour).Write(journal.Resumed, "", journal.Resumption{})
	}
	bounds := postmortem.Options{Until: reporttest.Morning().Add(time.Minute)}
	for name, one := range map[string]struct {
		record  *reporttest.Writer
		options postmortem.Options
		want    report.WaitsFor
		state   string
	}{
		"under way":                     {opened(), postmortem.Options{}, "", "open"},
		"parked":                        {parked(opened()), postmortem.Options{}, report.ForOperator, "open: needs-attention"},
		"asked for an approval":         {asked(opened()), postmortem.Options{}, report.ForApproval, "open: waiting for approval"},
		"parked within the bounds":      {goesOn(parked(opened())), bounds, report.ForOperator, "open: waits for an operator"},
		"asked within the bounds":       {goesOn(asked(opened())), bounds, report.ForApproval, "open: waiting for approval"},
		"under way at the bounds' ends": {goesOn(opened()), bounds, "", "open"},
	} {
		t.Run(name, func(t *testing.T) {
			runs := reporttest.Draft(t, of(one.record.History()), one.options).Runs
			if len(runs) != 1 || runs[0].Phase != report.PhaseOpen || runs[0].WaitsFor != one.want || runs[0].State != one.state {
				t.Errorf("%+v, want waiting for %q, state %q", runs, one.want, one.state)
			}
		})
	}
}
