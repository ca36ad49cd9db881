package reporttest

import (
	"encoding/json"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/internal/prow/finding"
	"salve/internal/report/postmortem"
	"salve/internal/triage"
	"salve/journal"
	"salve/runbook"
)

// Hostile are sources of all kinds whose every text is asked for, with a journal of so many entries at least.
func Hostile(t testing.TB, text func() string, entries int) postmortem.Sources {
	t.Helper()
	sources := postmortem.Sources{Runs: []*journal.History{hostileRun(t, text, entries)}}
	for i := range entries / 10 {
		at := Morning().Add(time.Duration(i) * time.Minute)
		found := &finding.Finding{Message: text(), Mend: text(), Subject: finding.Subject{Org: text(), Namespace: text()}}
		sources.Watch = append(sources.Watch, postmortem.WatchFile{Name: text(), Changes: []postmortem.WatchChange{
			{Line: i, Time: at, Change: []string{"new", "gone"}[i%2], Rule: text(), Severity: finding.Alert, Reason: text(),
				Finding: found},
			{Line: i, Time: at, Change: "blind", Rule: text(), Reason: text()}}})
		sources.Notes = append(sources.Notes, postmortem.NotesFile{Name: text(), Notes: []postmortem.Note{
			{Line: i, Author: text(), At: at, Clock: text(), Text: "rolling back " + text()},
			{Line: i, Author: text(), Clock: text(), Text: text()},
		}, Questions: []postmortem.NoteQuestion{{Line: i, Text: text()}}})
	}
	sources.Triage = []postmortem.TriageFile{{Name: text(), Document: triage.Document{Build: text(), Created: Morning(),
		Verdict: triage.Verdict(text()), Confidence: triage.Confidence(text()), Summary: text(),
		Groups: []triage.Group{{Key: text(), Message: text(), Failures: 3, Verdict: triage.Verdict(text()), Action: text(),
			Cause: triage.Cause{Text: text()}, Alternative: triage.Alternative{Text: text()}}}}}}
	return sources
}

func hostileRun(t testing.TB, text func() string, entries int) *journal.History {
	t.Helper()
	holder := func() journal.Holder { return journal.Holder{User: text(), Host: text(), PID: 1} }
	header := journal.Header{Run: text(), Runbook: text(), Version: text(), Program: text(), Command: text(),
		Holder: holder(), Target: runbook.Target{Kind: text(), ID: text(), Name: text()},
		Overrides: map[string]string{text(): text()}}
	h := &journal.History{Header: header}
	add := func(kind journal.Kind, step string, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		h.Entries = append(h.Entries, journal.Entry{Seq: len(h.Entries) + 1, Kind: kind, Step: step, Data: raw,
			At: Morning().Add(time.Duration(len(h.Entries)) * time.Second)})
	}
	add(journal.Opened, "", header)
	for len(h.Entries) < entries {
		step, verdict := text(), journal.Verdict{Outcome: runbook.Outcome(text()), Reason: text(), Question: text()}
		answer := Named(text(), runbook.No("%s", text()).WithEvidence(
			Saw(text(), text()), Saw("nodes of pool "+text(), map[string]int{"nodes": 3, "serving": 2})))
		held := Named(text(), runbook.Yes("%s 3", text()).WithEvidence(Saw(text(), text())))
		over := answer
		over.Override = text()
		add(journal.Evaluated, "", journal.Evaluation{For: text(), Findings: []runbook.Finding{answer, held, over},
			Decision: verdict})
		add(journal.Intended, step, journal.Intent{Attempt: 1, Irreversible: true, BudgetSeconds: 0.5})
		add(journal.Requested, step, journal.Requests{Made: []journal.Request{{Method: text(), Path: text(), Count: 1,
			Class: apierr.Class(text())}, {Method: text(), Path: "/api/" + text(), Status: 200, Count: 2}}})
		add(journal.Outcome, step, journal.Result{Result: journal.ResultKind(text()), Reason: text()})
		add(journal.Warned, "", journal.Message{Text: text()})
		add(journal.Parked, "", verdict)
		add(journal.Resumed, "", journal.Resumption{Holder: holder(), Command: text(),
			Overrides: map[string]string{text(): text()}})
		add(journal.RollingBack, "", verdict)
		add(journal.Migrated, "", journal.Destination{Where: text()})
	}
	h.Closed = &journal.Verdict{Outcome: runbook.Outcome(text()), Reason: text()}
	return h
}
