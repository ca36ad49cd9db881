package reporttest

import (
	"fmt"
	"testing"
	"time"

	"salve/internal/report/postmortem"
	"salve/journal"
	"salve/runbook"
)

// Sample is an incident with a name.
type Sample struct {
	Name    string
	Sources postmortem.Sources
}

// Samples are incidents of all kinds.
func Samples(t testing.TB) []Sample {
	of := func(runs ...*journal.History) postmortem.Sources { return postmortem.Sources{Runs: runs} }
	return []Sample{
		{"recovered", of(Recovered(t))},
		{"taken-back", of(TakenBack(t))},
		{"prow-day", ProwDay(t)},
		{"never-joined", of(NeverJoined(t))},
		{"crashed", of(Crashed(t))},
		{"wide", of(Wide(t))},
		{"chat-only", postmortem.Sources{Notes: ProwDay(t).Notes}},
	}
}

// NeverJoined is a recreated pool of which one node does not join: the run waits two days for somebody, whose clock is
// behind, and then comes through.
func NeverJoined(t testing.TB) *journal.History {
	const cluster = "/subscriptions/5a1e0000-0000-4000-8000-000000000001/resourceGroups/fleet/providers/" +
		"Microsoft.ContainerService/managedClusters/prod-3"
	timedOut := `not complete within 25m: timed out: pool "web" has 4 of 5 nodes Ready and schedulable`
	w := Open(t, Morning(), journal.Header{Run: "20190205-164700-0abc0a", Runbook: "aks-recreate-pool",
		Target: runbook.Target{Kind: "AKS agent pool", ID: cluster + "/agentPools/web", Name: "prod-3/web"},
		Holder: journal.Holder{User: "ana", Host: "laptop-7", PID: 42}, Command: "salve run aks-recreate-pool --pool web"})
	pool := func(name string) string { return cluster + "/agentPools/" + name }
	ready := func(pool string, nodes, serving int) {
		w.Evaluated("step", journal.Verdict{}, Named("nodes-counted", runbook.
			Yes("%d of %d nodes are Ready", serving, nodes).WithEvidence(w.SawNodes(pool, nodes, serving))))
	}
	ready("web", 5, 5)
	w.After(10*time.Second).Step("snapshot", 1, 3*time.Second, journal.Result{Result: journal.Done}).
		After(5*time.Second).Step("add-stand-in", 1, 2*time.Second, journal.Result{Result: journal.Failure,
		Reason: "ARM answered 409 OperationNotAllowed"}).
		Sent("add-stand-in", 1, journal.Request{Method: "PUT", Path: pool("s1"), Status: 409, Count: 1}).
		After(45*time.Second).Step("add-stand-in", 2, 150*time.Second, journal.Result{Result: journal.Done}).
		Sent("add-stand-in", 2, journal.Request{Method: "PUT", Path: pool("s1"), Status: 201, Count: 1})
	ready("s1", 5, 5)
	w.Begin("drain", 1).After(50 * time.Second)
	var drained []journal.Request
	for i := range 5 {
		drained = append(drained, journal.Request{Method: "PATCH", Path: fmt.Sprintf("/api/v1/nodes/aks-web-vmss%d", i),
			Status: 200, Count: 1}, journal.Request{Method: "POST",
			Path: fmt.Sprintf("/api/v1/namespaces/shop/pods/front-%d/eviction", i), Status: 201 + 228*(i%2), Count: 1 + i})
	}
	w.Sent("drain", 1, drained...).Write(journal.Outcome, "drain", journal.Result{Attempt: 1, Result: journal.Done})
	ready("web", 5, 0)
	w.After(5*time.Second).Step("delete-pool", 1, 128*time.Second, journal.Result{Result: journal.Done}).
		Sent("delete-pool", 1, journal.Request{Method: "DELETE", Path: pool("web"), Status: 202, Count: 1}).
		After(4*time.Second).Begin("recreate", 1).After(2*time.Second).
		Sent("recreate", 1, journal.Request{Method: "PUT", Path: pool("web"), Class: "timeout", Count: 1}).
		After(25*time.Minute).Write(journal.Outcome, "recreate", journal.Result{Attempt: 1, Result: journal.Unknown,
		Reason: timedOut})
	ready("web", 5, 4)
	w.After(time.Second).Write(journal.Parked, "", journal.Verdict{Outcome: runbook.NeedsAttention, Reason: timedOut,
		Question: "node aks-web-vmss4 has not joined. Fix or delete the VM, then resume."}).
		After(51*time.Hour).Write(journal.Resumed, "", journal.Resumption{Holder: journal.Holder{User: "bo", Host: "jump",
		PID: 7}, Command: "salve resume 20190205-164700-0abc0a"}).
		After(2*time.Second).Begin("recreate", 2).After(-40*time.Second).Write(journal.Outcome, "recreate",
		journal.Result{Attempt: 2, Result: journal.Done, Observed: true, Reason: "the pool is there"})
	ready("web", 5, 5)
	return w.After(3*time.Second).Step("retire-stand-in", 1, 155*time.Second, journal.Result{Result: journal.Done}).
		Sent("retire-stand-in", 1, journal.Request{Method: "DELETE", Path: pool("s1"), Status: 202, Count: 1}).
		Evaluated("checks", journal.Verdict{}, Named("nodes-ready", runbook.Yes("5 nodes are Ready").
			WithEvidence(w.SawNodes("web", 5, 5)))).
		Write(journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated, Reason: "all final checks hold"}).History()
}

// Crashed ends within a step.
func Crashed(t testing.TB) *journal.History {
	return Open(t, Morning(), journal.Header{Run: "20190205-164700-0c0ffe", Runbook: "aks-recreate-pool",
		Target: runbook.Target{Kind: "AKS agent pool", ID: "/id", Name: "prod-4/system"},
		Holder: journal.Holder{User: "ana", Host: "laptop-7", PID: 44}}).
		After(time.Second).Step("snapshot", 1, 0, journal.Result{Result: journal.Done}).
		After(time.Second).Step("add-stand-in", 1, 0, journal.Result{Result: journal.Skipped, Reason: "is not needed"}).
		After(time.Second).Begin("drain", 1).
		After(20*time.Second).Sent("drain", 1, journal.Request{Method: "PATCH", Path: "/api/v1/nodes/n1", Status: 200,
		Count: 1}).History()
}

// Wide is a run of a pipeline with more steps, requests, pools and readings than can be drawn.
func Wide(t testing.TB) *journal.History {
	w := Open(t, Morning(), journal.Header{Run: "20190205-164700-01234f", Runbook: "rollout",
		Target: runbook.Target{Kind: "rollout", ID: "pipeline/fleet/1", Name: "fleet"},
		Holder: journal.Holder{User: "ci", Host: "runner-1", PID: 1}, Command: "salve pipeline run fleet.yaml"})
	for i := range 60 {
		step := fmt.Sprintf("region-%02d/cluster-with-a-long-name/deploy", i)
		w.Begin(step, 1)
		var sent []journal.Request
		for n := range 50 {
			sent = append(sent, journal.Request{Method: "PUT", Path: fmt.Sprintf("/subscriptions/s/pools/%d", n),
				Status: 200 + 229*(n%25/24), Count: 1})
		}
		w.After(time.Duration(20+i)*time.Second).Sent(step, 1, sent...).
			Evaluated("step "+step, journal.Verdict{}, Named("nodes-ready", runbook.Yes("ready").
				WithEvidence(w.SawNodes(fmt.Sprintf("pool%d", i%9), 9, i%10))))
		result := journal.Result{Attempt: 1, Result: journal.Done}
		if i%20 == 7 {
			result = journal.Result{Attempt: 1, Result: journal.Failure, Reason: "exit status 1"}
		}
		w.Write(journal.Outcome, step, result)
	}
	return w.Write(journal.Closed, "", journal.Verdict{Outcome: runbook.Failed, Reason: "3 steps failed"}).History()
}
