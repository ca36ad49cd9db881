package postmortem_test

import (
	"context"
	_ "embed" // what a watch wrote
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/report/postmortem"
	"salve/internal/triage"
	"salve/journal"
	"salve/runbook"
)

var update = flag.Bool("update", false, "write the golden files anew")

var morning = time.Date(2019, 2, 5, 16, 47, 0, 0, time.UTC) // 08:47 in Los Angeles

// writer writes a journal by hand.
type writer struct {
	t      *testing.T
	now    time.Time
	record *journal.Record
}

func open(t *testing.T, at time.Time, header journal.Header) *writer {
	t.Helper()
	w := &writer{t: t, now: at}
	header.Schema, header.Version = 1, "1"
	record, err := journal.Create(context.Background(), journal.NewMemory(), journal.NoLease(1),
		func() time.Time { return w.now }, header)
	if err != nil {
		t.Fatal(err)
	}
	w.record = record
	return w
}

func (w *writer) after(d time.Duration) *writer {
	w.now = w.now.Add(d)
	return w
}

func (w *writer) write(kind journal.Kind, step string, data any) *writer {
	w.t.Helper()
	if err := w.record.Append(context.Background(), kind, step, data); err != nil {
		w.t.Fatal(err)
	}
	return w
}

func (w *writer) evaluated(purpose string, decision journal.Verdict, findings ...runbook.Finding) *writer {
	return w.write(journal.Evaluated, "", journal.Evaluation{For: purpose, Round: 1, Findings: findings,
		Decision: decision})
}

func (w *writer) step(name string, attempt int, took time.Duration, result journal.Result) *writer {
	w.write(journal.Intended, name, journal.Intent{Attempt: attempt, Permit: "p", Irreversible: name == "delete-pool",
		BudgetSeconds: 120})
	result.Attempt = attempt
	return w.after(took).write(journal.Outcome, name, result)
}

func named(guard string, finding runbook.Finding) runbook.Finding {
	finding.Guard = guard
	return finding
}

func saw(source string, value any) runbook.Evidence {
	return runbook.NewEvidence(source, `W/"7"`, morning, value)
}

// recovered came through: with a retry, a budget that was not kept, a crash and an unknown.
func recovered(t *testing.T) *journal.History {
	header := journal.Header{Run: "20190205-164700-aaaaaa", Runbook: "aks-recreate-pool",
		Target: runbook.Target{Kind: "AKS agent pool",
			ID:   "/subscriptions/5a1e0000-0000-4000-8000-000000000001/aks/prod-1/system",
			Name: "prod-1/system"},
		Holder:  journal.Holder{User: "ana", Host: "laptop-7", PID: 42},
		Command: "salve run aks-recreate-pool --cluster prod-1"}
	w := open(t, morning, header).after(2*time.Second).
		evaluated("start", journal.Verdict{},
			named("cluster-exists", runbook.Yes("the cluster is there").WithEvidence(saw("ARM prod-1", "Failed"))),
			named("wedge-evidence", runbook.Yes("18 writes failed").WithEvidence(saw("Activity Log of MC_prod-1", 18)))).
		step("add-stand-in", 1, time.Second, journal.Result{Result: journal.Failure,
			Reason: "ARM answered 409 OperationNotAllowed"}).
		after(5*time.Second).
		step("add-stand-in", 2, 150*time.Second, journal.Result{Result: journal.Done}).
		write(journal.Requested, "add-stand-in", journal.Requests{Attempt: 2, Permit: "p", Made: []journal.Request{
			{Method: "PUT", Path: "/agentPools/s1", Status: 201, Count: 1}, {Method: "PUT",
				Path: "/agentPools/s1", Status: 429, Count: 3}}})
	w.evaluated("step delete-pool", journal.Verdict{Outcome: runbook.Deferred, Reason: "stand-in-ready"},
		named("stand-in-ready", runbook.No("3 of 5 nodes are Ready").WithOutcome(runbook.Deferred).
			WithEvidence(saw("nodes of pool s1", map[string]int{"nodes": 5, "serving": 3}))))
	w.after(time.Minute).write(journal.Interrupted, "", journal.Message{Text: "interrupted; the run is open"}).
		write(journal.Parked, "", journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "interrupted"}).
		after(20*time.Minute).write(journal.Resumed, "", journal.Resumption{Holder: journal.Holder{User: "bo",
		Host: "jump", PID: 7},
		Overrides: map[string]string{"wedge-evidence": "seen in the portal"}, Command: "salve resume 20190205-164700-aaaaaa"})
	override := named("wedge-evidence", runbook.Unknownf("the Activity Log is forbidden"))
	override.Override = "seen in the portal"
	return w.evaluated("step delete-pool", journal.Verdict{}, override).
		step("delete-pool", 1, 30*time.Second, journal.Result{Result: journal.Unknown, Reason: "connection reset"}).
		after(2*time.Second).write(journal.Outcome, "delete-pool", journal.Result{Result: journal.Done, Observed: true,
		Reason: "the pool is gone"}).
		evaluated("checks", journal.Verdict{}, named("nodes-ready", runbook.Yes("5 nodes are Ready").
			WithEvidence(saw("nodes of pool system", map[string]int{"nodes": 5, "serving": 5})))).
		write(journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated,
			Reason: "all final checks hold"}).record.History
}

// takenBack failed before its point of no return and undid what it had done.
func takenBack(t *testing.T) *journal.History {
	reason := `step "add-stand-in": no capacity`
	return open(t, morning, journal.Header{Run: "20190205-164700-bbbbbb", Runbook: "aks-recreate-pool",
		Target: runbook.Target{Kind: "AKS agent pool", ID: "/id", Name: "prod-2/system"},
		Holder: journal.Holder{User: "ana", Host: "laptop-7", PID: 43}}).
		step("add-stand-in", 1, 45*time.Second, journal.Result{Result: journal.Failure, Reason: "no capacity"}).
		write(journal.RollingBack, "", journal.Verdict{Outcome: runbook.Failed, Reason: reason}).
		step("remove-stand-in", 1, 2*time.Minute, journal.Result{Result: journal.Done}).
		write(journal.Closed, "", journal.Verdict{Outcome: runbook.Failed, Reason: reason}).record.History
}

// deployed is a run of a pipeline that is shaped like the deploy of 5 February 2019.
func deployed(t *testing.T) *journal.History {
	return open(t, morning, journal.Header{Run: "20190205-164700-cccccc", Runbook: "rollout",
		Target: runbook.Target{Kind: "rollout", ID: "pipeline/prow/1", Name: "prow in prow-cluster"},
		Holder: journal.Holder{User: "prow", Host: "deploy-pod", PID: 1}, Command: "salve pipeline run prow.yaml"}).
		after(time.Second).step("prow/deploy", 1, 20*time.Second, journal.Result{Result: journal.Done}).
		write(journal.Closed, "", journal.Verdict{Outcome: runbook.RolledOut, Reason: "every step is done"}).record.History
}

// rolledBack is a run of a runbook that removes what went astray.
func rolledBack(t *testing.T) *journal.History {
	return open(t, morning.Add(118*time.Minute), journal.Header{Run: "20190205-184500-dddddd",
		Runbook: "rescue-stranded-pods",
		Target:  runbook.Target{Kind: "namespace", ID: "/ns/default", Name: "prow-cluster/default"},
		Holder:  journal.Holder{User: "katharine", Host: "laptop-1", PID: 9}, Command: "salve run rescue-stranded-pods"}).
		after(time.Second).evaluated("start", journal.Verdict{}, named("pods-stranded",
		runbook.Yes("415 pods are stranded").WithEvidence(saw("pods created-by-prow=true", 415)))).
		step("delete-pods", 1, 90*time.Second, journal.Result{Result: journal.Done}).
		evaluated("checks", journal.Verdict{}, named("none-left", runbook.Yes("0 pods are stranded"))).
		write(journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated,
			Reason: "all final checks hold"}).record.History
}

//go:embed testdata/watched.jsonl
var watched string

// prowDay is the day of the outage, told by all kinds of sources.
func prowDay(t *testing.T) postmortem.Sources {
	t.Helper()
	file, err := postmortem.ReadWatch("watch.jsonl", []byte(watched))
	if err != nil {
		t.Fatal(err)
	}
	return postmortem.Sources{
		Runs: []*journal.History{deployed(t), rolledBack(t)}, Watch: []postmortem.WatchFile{file},
		Triage: []postmortem.TriageFile{{Name: "triage.json", Document: triaged()}},
		Notes: []postmortem.NotesFile{{Name: "chat.md", Notes: []postmortem.Note{
			{Line: 3, Author: "Katharine", At: morning.Add(-20 * time.Minute), Clock: "08:27", Text: "It's prow bump time!"},
			{Line: 9, Author: "Katharine", At: morning.Add(10 * time.Minute), Clock: "08:57", Text: "hmm\nrolling back"},
			{Line: 15, Author: "prow", Bot: true, At: morning.Add(25 * time.Minute), Clock: "09:12",
				Text: "Warning: @katharine manually merged 2 commits"},
			{Line: 20, Author: "Ben Elder", Clock: "09:14", Text: "prow was stuck"},
		}, Questions: []postmortem.NoteQuestion{{Line: 20, Text: "on which date was 09:14 written?"}}}},
	}
}

func triaged() triage.Document {
	return triage.Document{Format: triage.Format, Build: "e2e-17", Created: morning.Add(30 * time.Minute),
		Verdict: triage.SuspectedChange, Confidence: triage.Medium, Summary: "40 of 60 scenarios fail alike.",
		Counts:   triage.Counts{Scenarios: 60, Tests: 30, Passed: 20, Failed: 40},
		Timeline: []triage.Moment{{Time: morning.Add(5 * time.Minute), Seconds: 60, Failed: 3, Passed: 1}},
		Groups: []triage.Group{{Key: "g1-7f", Message: "secret not found", Failures: 40, Verdict: triage.SuspectedChange,
			Confidence: triage.Medium, Cause: triage.Cause{State: "found", Text: "namespace default: 40 of 40 fail"},
			Alternative: triage.Alternative{State: "supported", Text: "The change is likely."}, Action: "hold the change"}}}
}

func losAngeles(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func draft(t *testing.T, sources postmortem.Sources, options postmortem.Options) postmortem.Draft {
	t.Helper()
	if options.Zone == nil {
		options.Zone = losAngeles(t)
	}
	made, err := postmortem.New(sources, options)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func markdown(d postmortem.Draft) string { return string(postmortem.Document(postmortem.Blocks(d))) }

// busy is a journal with many events.
func busy(t testing.TB, events int) *journal.History {
	h := &journal.History{Header: journal.Header{Run: "20190205-164700-eeeeee", Runbook: "b",
		Target: runbook.Target{Name: "t"}}}
	add := func(kind journal.Kind, step string, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		h.Entries = append(h.Entries, journal.Entry{Seq: len(h.Entries) + 1,
			At:   morning.Add(time.Duration(len(h.Entries)) * time.Second),
			Kind: kind, Step: step, Data: raw})
	}
	add(journal.Opened, "", h.Header)
	for i := 0; len(h.Entries) < events; i++ {
		step := fmt.Sprintf("step-%d", i)
		finding := named("guard", runbook.No("%d of 5 nodes are Ready | `x` --> <!-- %d", i, i).WithEvidence(saw(fmt.Sprintf("query %d", i), i)))
		add(journal.Evaluated, "", journal.Evaluation{For: "step " + step, Findings: []runbook.Finding{finding}})
		add(journal.Intended, step, journal.Intent{Attempt: 1})
		add(journal.Requested, step, journal.Requests{Made: []journal.Request{{Method: "PUT",
			Path: "/a/long/path/of/an/object/" + step, Status: 200, Count: 1}}})
		add(journal.Outcome, step, journal.Result{Result: journal.Failure, Reason: "because of " + step})
	}
	return h
}

func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", path, diff)
	}
}
