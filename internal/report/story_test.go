package report_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/journal"
	"salve/runbook"
)

var update = flag.Bool("update", false, "write the golden files anew")

var midnight = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

// story writes a journal by hand.
type story struct {
	t      *testing.T
	now    time.Time
	record *journal.Record
}

// newStory opens a run at midnight.
func newStory(t *testing.T, overrides map[string]string) *story {
	t.Helper()
	s := &story{t: t, now: midnight}
	header := journal.Header{
		Schema: 1, Run: "run-1", Runbook: "aks-recreate-pool", Version: "1", Overrides: overrides,
		Target: runbook.Target{Kind: "AKS agent pool", ID: "/id/of/system", Name: "prod-1/system"},
		Holder: journal.Holder{User: "ana", Host: "laptop", PID: 42},
	}
	record, err := journal.Create(context.Background(), journal.NewMemory(), journal.NoLease(1),
		func() time.Time { return s.now }, header)
	if err != nil {
		t.Fatal(err)
	}
	s.record = record
	return s
}

func (s *story) after(d time.Duration) *story {
	s.now = s.now.Add(d)
	return s
}

func (s *story) write(kind journal.Kind, step string, data any) *story {
	s.t.Helper()
	if err := s.record.Append(context.Background(), kind, step, data); err != nil {
		s.t.Fatal(err)
	}
	return s
}

func (s *story) evaluated(purpose string, findings ...runbook.Finding) *story {
	s.t.Helper()
	return s.write(journal.Evaluated, "", journal.Evaluation{
		For: purpose, Round: 1, Findings: findings,
	})
}

// step begins an attempt and ends it after a while.
func (s *story) step(name string, attempt int, took time.Duration, result journal.Result) *story {
	s.t.Helper()
	s.write(journal.Intended, name, journal.Intent{Attempt: attempt, Permit: "p", Irreversible: name == "delete-pool"})
	result.Attempt = attempt
	return s.after(took).write(journal.Outcome, name, result)
}

func done() journal.Result { return journal.Result{Result: journal.Done} }

func named(guard string, finding runbook.Finding) runbook.Finding {
	finding.Guard = guard
	return finding
}

func saw(value any) runbook.Evidence {
	return runbook.NewEvidence(
		"ARM /subscriptions/5a1e/resourcegroups/fleet/providers/Microsoft.ContainerService/managedClusters/prod-1", `W/"7"`,
		midnight, value)
}

// recovered is a run that came through, with a wrinkle at each place.
func recovered(t *testing.T) *journal.History {
	return newStory(t, nil).after(2*time.Second).
		evaluated("start",
			named("cluster-exists",
				runbook.Yes("the cluster is there").WithEvidence(saw(map[string]string{"provisioningState": "Failed"}))),
			named("wedge-evidence", runbook.Yes("18 writes of the scale set failed"))).
		write(journal.Planned, "", examplePlan()).
		write(journal.Outcome, "settle-cluster", journal.Result{Result: journal.Done, Observed: true,
			Reason: "no operation is running"}).
		step("add-stand-in", 1, time.Second,
			journal.Result{Result: journal.Failure, Reason: "ARM answered 409 OperationNotAllowed"}).
		after(5*time.Second).step("add-stand-in", 2, 150*time.Second, done()).
		write(journal.Warned, "",
			journal.Message{Text: "the drain's deadline has passed with pods left: shop/frontend-1 (PodDisruptionBudget " +
				"frontend)"}).
		step("delete-pool", 1, 30*time.Second, journal.Result{Result: journal.Unknown, Reason: "connection reset"}).
		after(2*time.Second).write(journal.Outcome, "delete-pool", journal.Result{Result: journal.Done, Observed: true,
		Reason: "the pool is gone"}).
		evaluated("checks", named("nodes-ready", runbook.Yes("5 nodes are Ready")),
			named("cluster-succeeded", runbook.Yes("the cluster is Succeeded"))).
		write(journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated,
			Reason: "all final checks hold"}).record.History
}

// takenBack is a run that failed and undid what it had done.
func takenBack(t *testing.T) *journal.History {
	reason := "ARM's operation ended with AllocationFailed: we do not have sufficient capacity for the " +
		"requested VM size in this region"
	return newStory(t, map[string]string{"wedge-evidence": "seen in the portal"}).after(time.Second).
		evaluated("start", func() runbook.Finding {
			finding := named("wedge-evidence", runbook.Unknownf("the Activity Log is forbidden"))
			finding.Override = "seen in the portal"
			return finding
		}()).
		step("add-stand-in", 1, 45*time.Second, journal.Result{Result: journal.Failure, Reason: reason}).
		write(journal.RollingBack, "", journal.Verdict{Outcome: runbook.Failed, Reason: `step "add-stand-in": ` + reason}).
		step("remove-stand-in", 1, 2*time.Minute, done()).
		write(journal.Closed, "", journal.Verdict{Outcome: runbook.Failed, Reason: `step "add-stand-in": ` +
			reason}).record.History
}

// parked was interrupted, resumed, and waits for an operator. Its only decision is
// not the one that this program would make.
func parked(t *testing.T) *journal.History {
	return newStory(t, nil).
		evaluated("start", named("pool-wedged", runbook.No("the pool is Succeeded").WithEvidence(saw("Succeeded")))).
		write(journal.Intended, "add-stand-in", journal.Intent{Attempt: 1}).
		after(time.Minute).write(journal.Interrupted, "", journal.Message{Text: "interrupted; the run is open"}).
		write(journal.Parked, "", journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "interrupted"}).
		after(26*time.Hour).write(journal.Resumed, "",
		journal.Resumption{Holder: journal.Holder{User: "bo", Host: "jump", PID: 7}}).
		write(journal.Parked, "", journal.Verdict{Outcome: runbook.NeedsAttention, Reason: "the stand-in can't be seen",
			Question: "Has the stand-in been made?"}).record.History
}

func examplePlan() runbook.Plan {
	return runbook.Plan{
		Runbook: "aks-recreate-pool", Version: "1", Digest: "0123456789abcdef",
		Target: runbook.Target{Kind: "AKS agent pool", ID: "/id/of/system", Name: "prod-1/system"},
		Steps: []runbook.PlannedStep{
			{Name: "add-stand-in",
				Changes: "create a stand-in pool like system and wait for its nodes; once more with one node if quota refuses that",
				Inputs:  []byte(`{"pool":"s1","count":5}`)},
			{Name: "delete-pool", Changes: "delete pool system", Irreversible: true},
			{Name: "recreate", Changes: "create pool system again"},
		},
	}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name string, text []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", path, diff)
	}
}

func written(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
