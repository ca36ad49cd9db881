package postmortem_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
	"salve/runbook"
)

func of(runs ...*journal.History) postmortem.Sources { return postmortem.Sources{Runs: runs} }

// TestSpansWithoutAnEndAreOpen: a step that the record leaves, and a run that still waits.
func TestSpansWithoutAnEndAreOpen(t *testing.T) {
	spans := reporttest.Draft(t, of(reporttest.Crashed(t)), postmortem.Options{}).Chart.Spans
	for _, s := range spans {
		if s.Open != (s.Step == "drain") {
			t.Errorf("%s: open %t", s.Step, s.Open)
		}
	}
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"}).
		Write(journal.Parked, "", journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "look"})
	spans = reporttest.Draft(t, of(w.History()), postmortem.Options{}).Chart.Spans
	if len(spans) != 1 || spans[0].Kind != postmortem.Person || !spans[0].Open {
		t.Errorf("the wait that has no end: %+v", spans)
	}
	w.After(time.Hour).Write(journal.Resumed, "", journal.Resumption{})
	spans = reporttest.Draft(t, of(w.History()), postmortem.Options{}).Chart.Spans
	if len(spans) != 1 || spans[0].Open || spans[0].Took() != time.Hour {
		t.Errorf("the wait that ended: %+v", spans)
	}
}

func TestWhatIsFoundOutLaterIsKept(t *testing.T) {
	for _, s := range reporttest.Draft(t, of(reporttest.Recovered(t)), postmortem.Options{}).Chart.Spans {
		if s.Step == "delete-pool" && (s.Result != journal.Unknown || s.Later != journal.Done) {
			t.Errorf("%+v", s)
		}
	}
}

// TestManyRequestsAreTogether: none is lost where those of one entry are alike.
func TestManyRequestsAreTogether(t *testing.T) {
	chart := reporttest.Draft(t, of(reporttest.Wide(t)), postmortem.Options{}).Chart
	sent := 0
	for _, o := range chart.Requests {
		sent += o.Count
	}
	if sent != 3000 || len(chart.Requests) != 120 || chart.Omitted != 0 {
		t.Errorf("%d requests in %d, %d left out", sent, len(chart.Requests), chart.Omitted)
	}
	if path := chart.Requests[0].Path; path != "/subscriptions/s/pools/…" {
		t.Errorf("path %q", path)
	}
}

// TestWhatWentWrongStaysInTheChart when there is not room for all.
func TestWhatWentWrongStaysInTheChart(t *testing.T) {
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"})
	for i := range 1000 {
		result := journal.Result{Result: journal.Done}
		if i == 900 {
			result.Result = journal.Failure
		}
		w.Step(fmt.Sprintf("step-%d", i), 1, time.Second, result).
			Sent("s", 1, journal.Request{Method: "PUT", Path: "/a", Status: 200 + 300*(i/999), Count: 1}).
			Evaluated("step", journal.Verdict{}, reporttest.Named("g", runbook.Yes("ready").
				WithEvidence(w.SawNodes("p", 5, 5-i/500))))
	}
	chart := reporttest.Draft(t, of(w.History()), postmortem.Options{}).Chart
	failed, refused := 0, 0
	for i, s := range chart.Spans {
		if s.Result == journal.Failure {
			failed++
		}
		if i > 0 && s.Began.Before(chart.Spans[i-1].Began) {
			t.Errorf("%s is not in order", s.Step)
		}
	}
	for _, o := range chart.Requests {
		if o.Refused() {
			refused++
		}
	}
	if len(chart.Spans) != 600 || len(chart.Requests) != 600 || failed != 1 || refused != 1 {
		t.Errorf("%d spans, %d requests, %d failed, %d refused", len(chart.Spans), len(chart.Requests), failed, refused)
	}
	if got := len(chart.Readiness); got != 4 { // the first and the last reading of each level
		t.Errorf("%d readings", got)
	}
	if chart.Omitted != 400+400+996 {
		t.Errorf("%d left out", chart.Omitted)
	}
}

// TestBandOfAPoolEndsWhenItWasDeleted: not when a guard last had a reason to look at it.
func TestBandOfAPoolEndsWhenItWasDeleted(t *testing.T) {
	const path = "/subscriptions/s/managedClusters/c/agentPools/s4f0"
	sent := func(method, path string, status int) journal.Request {
		return journal.Request{Method: method, Path: path, Status: status, Count: 1}
	}
	for name, row := range map[string]struct {
		sent   journal.Request
		became journal.ResultKind
		gone   bool
	}{
		"deleted":                 {sent("DELETE", path, 202), journal.Done, true},
		"deleted in other words":  {sent("DELETE", strings.ToLower(path), 204), journal.Done, true},
		"only sent":               {sent("DELETE", path, 202), journal.Unknown, false},
		"refused":                 {sent("DELETE", path, 409), journal.Done, false},
		"not answered":            {sent("DELETE", path, 0), journal.Done, false},
		"changed":                 {sent("PUT", path, 200), journal.Done, false},
		"a node of it is deleted": {sent("DELETE", path+"/nodes/n", 200), journal.Done, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"})
			w.Evaluated("start", journal.Verdict{}, reporttest.Named("g", runbook.Yes("ready").
				WithEvidence(w.SawNodes("s4f0", 5, 5))))
			w.After(5*time.Minute).Begin("retire", 1).Sent("retire", 1, row.sent).After(2*time.Minute).
				Write(journal.Outcome, "retire", journal.Result{Attempt: 1, Result: row.became})
			readings := reporttest.Draft(t, of(w.History()), postmortem.Options{}).Chart.Readiness
			last := readings[len(readings)-1]
			if last.Gone != row.gone || last.Pool != "s4f0" {
				t.Errorf("%+v", readings)
			}
			if row.gone && !last.At.Equal(reporttest.Morning().Add(7*time.Minute)) {
				t.Errorf("gone at %s", last.At)
			}
		})
	}
}

// TestPoolsAreMasked also where nothing but a reading of its nodes names one.
func TestPoolsAreMasked(t *testing.T) {
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"})
	w.Evaluated("start", journal.Verdict{}, reporttest.Named("g", runbook.Yes("ready").
		WithEvidence(w.SawNodes("zebra7", 5, 5))))
	sources := of(w.History())
	masked := postmortem.Mask(reporttest.Draft(t, sources, postmortem.Options{}), sources, []byte("0123456789abcdef"))
	if pool := masked.Chart.Readiness[0].Pool; pool == "zebra7" || pool == "" {
		t.Errorf("pool %q", pool)
	}
}
