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
	whole := postmortem.Options{}
	bounds := postmortem.Options{Until: reporttest.Morning().Add(time.Minute)}
	for name, one := range map[string]struct {
		record  *reporttest.Writer
		options postmortem.Options
		want    report.WaitsFor
		state   string
	}{
		"under way":               {opened(), whole, "", "open"},
		"parked":                  {parked(opened()), whole, report.ForOperator, "open: needs-attention"},
		"asked for an approval":   {asked(opened()), whole, report.ForApproval, "open: waiting for approval"},
		"parked within bounds":    {goesOn(parked(opened())), bounds, report.ForOperator, "open: waits for an operator"},
		"asked within bounds":     {goesOn(asked(opened())), bounds, report.ForApproval, "open: waiting for approval"},
		"under way within bounds": {goesOn(opened()), bounds, "", "open"},
	} {
		t.Run(name, func(t *testing.T) {
			runs := reporttest.Draft(t, of(one.record.History()), one.options).Runs
			if len(runs) != 1 {
				t.Fatalf("%d runs", len(runs))
			}
			run := runs[0]
			if run.Phase != report.PhaseOpen || run.WaitsFor != one.want || run.State != one.state {
				t.Errorf("%+v, want waiting for %q, state %q", run, one.want, one.state)
			}
		})
	}
}
