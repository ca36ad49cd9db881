package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"salve/engine"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// columns is the width of the golden files: a small terminal.
const columns = 80

var histories = map[string]func(*testing.T) *journal.History{"recovered": recovered, "taken-back": takenBack,
	"parked": parked}

func TestTimeline(t *testing.T) {
	for name, make := range histories {
		t.Run(name, func(t *testing.T) {
			history := make(t)
			golden(t, name+".timeline.txt",
				written(t, func(out *bytes.Buffer) error { return report.Timeline(out, columns, history) }))
		})
	}
}

func TestExplain(t *testing.T) {
	different := map[string]int{"parked": 1}
	for name, make := range histories {
		t.Run(name, func(t *testing.T) {
			history := make(t)
			golden(t, name+".explain.txt", written(t, func(out *bytes.Buffer) error {
				n, err := report.Explain(out, columns, history)
				if n != different[name] {
					t.Errorf("%d decisions differ, want %d", n, different[name])
				}
				return err
			}))
		})
	}
}

func TestPlan(t *testing.T) {
	golden(t, "plan.txt", written(t, func(out *bytes.Buffer) error { return report.Plan(out, columns, examplePlan()) }))
}

func TestFindings(t *testing.T) {
	overridden := named("other-pools-serving", runbook.No("pool workers has no nodes"))
	overridden.Override = "they are scaled to zero on purpose"
	findings := []runbook.Finding{
		named("cluster-exists",
			runbook.Yes("the cluster is there").WithEvidence(saw(map[string]string{"provisioningState": "Failed",
				"text": strings.Repeat("long ", 40)}))),
		overridden,
		named("pool-wedged", runbook.No("the pool is Succeeded")),
		named("wedge-evidence",
			runbook.Unknownf("reading the Activity Log:\nARM answered 403\n--------------------\nAuthorizationFailed")),
	}
	golden(t, "findings.txt", written(t, func(out *bytes.Buffer) error { return report.Findings(out, columns, findings) }))
}

func TestRuns(t *testing.T) {
	listed := []report.Listed{report.List(recovered(t)), report.List(parked(t)),
		{Run: "run-2", State: "broken", Reason: "the entry does not match its hash"}}
	golden(t, "runs.txt", written(t, func(out *bytes.Buffer) error { return report.Runs(out, columns, listed) }))
}

// TestJSON: documents carry their schema, and hold the whole of the evidence.
func TestJSON(t *testing.T) {
	story, err := report.NewStory(recovered(t))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "recovered.timeline.json", written(t, func(out *bytes.Buffer) error { return report.JSON(out, story) }))
	explanation, err := report.NewExplanation(parked(t))
	if err != nil {
		t.Fatal(err)
	}
	raw := written(t, func(out *bytes.Buffer) error { return report.JSON(out, explanation) })
	var read struct {
		SchemaVersion int
		Kind          string
		Different     int
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if read.SchemaVersion != 1 || read.Kind != "explanation" || read.Different != 1 {
		t.Errorf("the document begins with %+v", read)
	}
}

// TestSecretsAreTakenOut: what looks like a credential is written nowhere.
func TestSecretsAreTakenOut(t *testing.T) {
	token := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzYWx2ZSJ9.c2lnbmF0dXJl"
	finding := named("cluster-exists", runbook.Unknownf("refused: Authorization: Bearer %s", token))
	text := written(t, func(out *bytes.Buffer) error { return report.Findings(out, 0, []runbook.Finding{finding}) })
	document := written(t, func(out *bytes.Buffer) error { return report.JSON(out, finding) })
	line := report.LastLine(engine.Result{Outcome: runbook.Undecided, Reason: finding.Reason}, report.Next{})
	for _, said := range []string{string(text), string(document), line} {
		if strings.Contains(said, token) || !strings.Contains(said, "[redacted]") {
			t.Errorf("a token is shown in %q", said)
		}
	}
}

func TestLastLine(t *testing.T) {
	next := report.Next{Act: "salve run x", Resume: "salve resume r", Explain: "salve explain r"}
	target := runbook.Target{Name: "prod-1/system"}
	for _, test := range []struct {
		result engine.Result
		want   string
	}{
		{engine.Result{}, "All guards pass on prod-1/system, a run would act. To act: salve run x"},
		{engine.Result{Outcome: runbook.Remediated, Reason: "all final checks hold"},
			"Remediated prod-1/system: all final checks hold."},
		{engine.Result{Outcome: runbook.NothingToDo, Reason: "the pool is Succeeded"},
			"Nothing to do on prod-1/system: the pool is Succeeded."},
		{engine.Result{Outcome: runbook.Deferred, Reason: "too young"},
			"Deferred, prod-1/system is left as it is: too young. To try again later: salve run x"},
		{engine.Result{Outcome: runbook.Undecided, Reason: "it can't be\nseen."},
			"Undecided on prod-1/system: it can't be seen. Once it can be seen: salve run x"},
		{engine.Result{Outcome: runbook.Failed, Reason: "no capacity"},
			"Failed on prod-1/system: no capacity. To see why: salve explain r"},
		{engine.Result{Outcome: runbook.NeedsAttention, Reason: "a node is missing", Open: true},
			"Needs attention, prod-1/system: a node is missing. To go on: salve resume r"},
	} {
		test.result.Target = target
		if got := report.LastLine(test.result, next); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
