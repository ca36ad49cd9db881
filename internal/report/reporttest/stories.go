package reporttest

import (
	_ "embed" // what a watch wrote
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"salve/internal/report/postmortem"
	"salve/internal/triage"
	"salve/journal"
	"salve/runbook"
)

// Recovered came through: with a retry, a budget that was not kept, a crash and an unknown.
func Recovered(t testing.TB) *journal.History {
	header := journal.Header{Run: "20190205-164700-aaaaaa", Runbook: "aks-recreate-pool",
		Target: runbook.Target{Kind: "AKS agent pool",
			ID:   "/subscriptions/5a1e0000-0000-4000-8000-000000000001/aks/prod-1/system",
			Name: "prod-1/system"},
		Holder:  journal.Holder{User: "ana", Host: "laptop-7", PID: 42},
		Command: "salve run aks-recreate-pool --cluster prod-1"}
	w := Open(t, Morning(), header).After(2*time.Second).
		Evaluated("start", journal.Verdict{},
			Named("cluster-exists", runbook.Yes("the cluster is there").WithEvidence(Saw("ARM prod-1", "Failed"))),
			Named("wedge-evidence", runbook.Yes("18 writes failed").WithEvidence(Saw("Activity Log of MC_prod-1", 18)))).
		Step("add-stand-in", 1, time.Second, journal.Result{Result: journal.Failure,
			Reason: "ARM answered 409 OperationNotAllowed"}).
		After(5*time.Second).
		Step("add-stand-in", 2, 150*time.Second, journal.Result{Result: journal.Done}).
		Write(journal.Requested, "add-stand-in", journal.Requests{Attempt: 2, Permit: "p", Made: []journal.Request{
			{Method: "PUT", Path: "/agentPools/s1", Status: 201, Count: 1}, {Method: "PUT",
				Path: "/agentPools/s1", Status: 429, Count: 3}}})
	w.Evaluated("step delete-pool", journal.Verdict{Outcome: runbook.Deferred, Reason: "stand-in-ready"},
		Named("stand-in-ready", runbook.No("3 of 5 nodes are Ready").WithOutcome(runbook.Deferred).
			WithEvidence(Saw("nodes of pool s1", map[string]int{"nodes": 5, "serving": 3}))))
	w.After(time.Minute).Write(journal.Interrupted, "", journal.Message{Text: "interrupted; the run is open"}).
		Write(journal.Parked, "", journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "interrupted"}).
		After(20*time.Minute).Write(journal.Resumed, "", journal.Resumption{Holder: journal.Holder{User: "bo",
		Host: "jump", PID: 7},
		Overrides: map[string]string{"wedge-evidence": "seen in the portal"}, Command: "salve resume 20190205-164700-aaaaaa"})
	override := Named("wedge-evidence", runbook.Unknownf("the Activity Log is forbidden"))
	override.Override = "seen in the portal"
	return w.Evaluated("step delete-pool", journal.Verdict{}, override).
		Step("delete-pool", 1, 30*time.Second, journal.Result{Result: journal.Unknown, Reason: "connection reset"}).
		After(2*time.Second).Write(journal.Outcome, "delete-pool", journal.Result{Result: journal.Done, Observed: true,
		Reason: "the pool is gone"}).
		Evaluated("checks", journal.Verdict{}, Named("nodes-ready", runbook.Yes("5 nodes are Ready").
			WithEvidence(Saw("nodes of pool system", map[string]int{"nodes": 5, "serving": 5})))).
		Write(journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated,
			Reason: "all final checks hold"}).History()
}

// TakenBack failed before its point of no return and undid what it had done.
func TakenBack(t testing.TB) *journal.History {
	reason := `step "add-stand-in": no capacity`
	return Open(t, Morning(), journal.Header{Run: "20190205-164700-bbbbbb", Runbook: "aks-recreate-pool",
		Target: runbook.Target{Kind: "AKS agent pool", ID: "/id", Name: "prod-2/system"},
		Holder: journal.Holder{User: "ana", Host: "laptop-7", PID: 43}}).
		Step("add-stand-in", 1, 45*time.Second, journal.Result{Result: journal.Failure, Reason: "no capacity"}).
		Write(journal.RollingBack, "", journal.Verdict{Outcome: runbook.Failed, Reason: reason}).
		Step("remove-stand-in", 1, 2*time.Minute, journal.Result{Result: journal.Done}).
		Write(journal.Closed, "", journal.Verdict{Outcome: runbook.Failed, Reason: reason}).History()
}

// Deployed is a run of a pipeline that is shaped like the deploy of 5 February 2019.
func Deployed(t testing.TB) *journal.History {
	return Open(t, Morning(), journal.Header{Run: "20190205-164700-cccccc", Runbook: "rollout",
		Target: runbook.Target{Kind: "rollout", ID: "pipeline/prow/1", Name: "prow in prow-cluster"},
		Holder: journal.Holder{User: "prow", Host: "deploy-pod", PID: 1}, Command: "salve pipeline run prow.yaml"}).
		After(time.Second).Step("prow/deploy", 1, 20*time.Second, journal.Result{Result: journal.Done}).
		Write(journal.Closed, "", journal.Verdict{Outcome: runbook.RolledOut, Reason: "every step is done"}).History()
}

// RolledBack is a run of a runbook that removes what went astray.
func RolledBack(t testing.TB) *journal.History {
	return Open(t, Morning().Add(118*time.Minute), journal.Header{Run: "20190205-184500-dddddd",
		Runbook: "rescue-stranded-pods",
		Target:  runbook.Target{Kind: "namespace", ID: "/ns/default", Name: "prow-cluster/default"},
		Holder:  journal.Holder{User: "katharine", Host: "laptop-1", PID: 9}, Command: "salve run rescue-stranded-pods"}).
		After(time.Second).Evaluated("start", journal.Verdict{}, Named("pods-stranded",
		runbook.Yes("415 pods are stranded").WithEvidence(Saw("pods created-by-prow=true", 415)))).
		Step("delete-pods", 1, 90*time.Second, journal.Result{Result: journal.Done}).
		Evaluated("checks", journal.Verdict{}, Named("none-left", runbook.Yes("0 pods are stranded"))).
		Write(journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated,
			Reason: "all final checks hold"}).History()
}

//go:embed watched.jsonl
var watched string

// ProwDay is the day of the outage, told by all kinds of sources.
func ProwDay(t testing.TB) postmortem.Sources {
	t.Helper()
	file, err := postmortem.ReadWatch("watch.jsonl", []byte(watched))
	if err != nil {
		t.Fatal(err)
	}
	return postmortem.Sources{
		Runs: []*journal.History{Deployed(t), RolledBack(t)}, Watch: []postmortem.WatchFile{file},
		Triage: []postmortem.TriageFile{{Name: "triage.json", Document: Triaged()}},
		Notes: []postmortem.NotesFile{{Name: "chat.md", Notes: []postmortem.Note{
			{Line: 3, Author: "Katharine", At: Morning().Add(-20 * time.Minute), Clock: "08:27", Text: "It's prow bump time!"},
			{Line: 9, Author: "Katharine", At: Morning().Add(10 * time.Minute), Clock: "08:57", Text: "hmm\nrolling back"},
			{Line: 15, Author: "prow", Bot: true, At: Morning().Add(25 * time.Minute), Clock: "09:12",
				Text: "Warning: @katharine manually merged 2 commits"},
			{Line: 20, Author: "Ben Elder", Clock: "09:14", Text: "prow was stuck"},
		}, Questions: []postmortem.NoteQuestion{{Line: 20, Text: "on which date was 09:14 written?"}}}},
	}
}

// Triaged is what a triage said that day.
func Triaged() triage.Document {
	return triage.Document{Format: triage.Format, Build: "e2e-17", Created: Morning().Add(30 * time.Minute),
		Verdict: triage.SuspectedChange, Confidence: triage.Medium, Summary: "40 of 60 scenarios fail alike.",
		Counts:   triage.Counts{Scenarios: 60, Tests: 30, Passed: 20, Failed: 40},
		Timeline: []triage.Moment{{Time: Morning().Add(5 * time.Minute), Seconds: 60, Failed: 3, Passed: 1}},
		Groups: []triage.Group{{Key: "g1-7f", Message: "secret not found", Failures: 40, Verdict: triage.SuspectedChange,
			Confidence: triage.Medium, Cause: triage.Cause{State: "found", Text: "namespace default: 40 of 40 fail"},
			Alternative: triage.Alternative{State: "supported", Text: "The change is likely."}, Action: "hold the change"}}}
}

// Busy is a journal with many events.
func Busy(t testing.TB, events int) *journal.History {
	h := &journal.History{Header: journal.Header{Run: "20190205-164700-eeeeee", Runbook: "b",
		Target: runbook.Target{Name: "t"}}}
	add := func(kind journal.Kind, step string, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		h.Entries = append(h.Entries, journal.Entry{Seq: len(h.Entries) + 1,
			At:   Morning().Add(time.Duration(len(h.Entries)) * time.Second),
			Kind: kind, Step: step, Data: raw})
	}
	add(journal.Opened, "", h.Header)
	for i := 0; len(h.Entries) < events; i++ {
		step := fmt.Sprintf("step-%d", i)
		finding := Named("guard", runbook.No("%d of 5 nodes are Ready | `x` --> <!-- %d", i, i).
			WithEvidence(Saw(fmt.Sprintf("query %d", i), i)))
		add(journal.Evaluated, "", journal.Evaluation{For: "step " + step, Findings: []runbook.Finding{finding}})
		add(journal.Intended, step, journal.Intent{Attempt: 1})
		add(journal.Requested, step, journal.Requests{Made: []journal.Request{{Method: "PUT",
			Path: "/a/long/path/of/an/object/" + step, Status: 200, Count: 1}}})
		add(journal.Outcome, step, journal.Result{Result: journal.Failure, Reason: "because of " + step})
	}
	return h
}
