package recreatepool

import (
	"strings"
	"testing"
	"time"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

const subscription = "5a1e0000-0000-4000-8000-000000000001"

// at is the time of readings.
func at() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func inputs(edit ...func(*Inputs)) Inputs {
	in := Defaults()
	in.Subscription, in.ResourceGroup, in.Cluster = subscription, "fleet", "aks-1"
	for _, change := range edit {
		change(&in)
	}
	return in
}

// readingOf is a reading of run-1 in which ARM answered with a cluster.
func readingOf(cluster azure.Cluster) reading {
	cluster.ID = inputs().clusterID()
	return reading{Inputs: inputs(), arm: arm{AKS: cluster}, Run: "run-1", Now: at()}
}

// readingOfPools is a reading in which the cluster has pools.
func readingOfPools(pools ...azure.Pool) reading { return readingOf(azure.Cluster{Pools: pools}) }

// expected is what a finding should say.
type expected struct {
	answer  runbook.Answer
	outcome runbook.Outcome
}

func expectFinding(t *testing.T, got runbook.Finding, want expected) {
	t.Helper()
	if got.Answer != want.answer || got.Outcome != want.outcome {
		t.Errorf("%s ending %q (%s), want %s ending %q", got.Answer, got.Outcome, got.Reason, want.answer, want.outcome)
	}
}

var (
	holds          = expected{answer: runbook.AnswerHolds}
	nothingToDo    = expected{answer: runbook.AnswerDoesNotHold}
	deferred       = expected{runbook.AnswerDoesNotHold, runbook.Deferred}
	failed         = expected{runbook.AnswerDoesNotHold, runbook.Failed}
	needsAttention = expected{runbook.AnswerDoesNotHold, runbook.NeedsAttention}
	unknown        = expected{answer: runbook.AnswerUnknown}
)

func TestClusterRecoverable(t *testing.T) {
	for state, want := range map[string]expected{
		"Succeeded": holds, "Canceled": holds, "Failed": holds, "Updating": holds, "Upgrading": holds,
		"Creating": deferred, "Deleting": nothingToDo, "": nothingToDo, "Hibernating": nothingToDo,
		"succeeded": nothingToDo, "Canceling": nothingToDo,
	} {
		t.Run("state "+state, func(t *testing.T) {
			expectFinding(t, clusterRecoverable(readingOf(azure.Cluster{State: state})), want)
		})
	}
}

func TestPoolWedged(t *testing.T) {
	for state, want := range map[string]expected{
		"Failed": holds, "Canceled": holds, "Updating": holds, "Upgrading": holds, "Succeeded": nothingToDo,
		"Deleting": nothingToDo, "": nothingToDo, "Creating": deferred, "Scaling": nothingToDo,
	} {
		t.Run("state "+state, func(t *testing.T) {
			expectFinding(t, poolWedged(readingOfPools(azure.Pool{Name: "system", State: state})), want)
		})
	}
	missing := poolWedged(readingOfPools(azure.Pool{Name: "workers", State: "Failed"}))
	if expectFinding(t, missing, needsAttention); !missing.Locked {
		t.Error("a missing pool can be overridden")
	}
}

func TestOtherPoolsServing(t *testing.T) {
	system, workers := azure.Pool{Name: "system", Count: 3}, azure.Pool{Name: "workers", Count: 2}
	empty := azure.Pool{Name: "spot", Count: 0}
	standIn := azure.Pool{Name: "s1", Count: 0, Tags: map[string]string{"purpose": "salve-stand-in"}}
	for name, row := range map[string]struct {
		pools   []azure.Pool
		deleted bool
		want    expected
		reason  string
	}{
		"the others have nodes":                           {pools: []azure.Pool{system, workers}, want: holds},
		"the target is the only pool":                     {pools: []azure.Pool{system}, want: holds},
		"the target itself may be empty":                  {pools: []azure.Pool{{Name: "system"}, workers}, want: holds},
		"another is empty: named":                         {[]azure.Pool{system, workers, empty}, false, nothingToDo, `"spot"`},
		"an empty stand-in does not count":                {pools: []azure.Pool{system, workers, standIn}, want: holds},
		"the target is missing":                           {[]azure.Pool{workers}, false, needsAttention, "workers"},
		"a prefix of the target's name is not it":         {pools: []azure.Pool{{Name: "system2"}}, want: needsAttention},
		"the target is missing because we deleted it":     {pools: []azure.Pool{workers}, deleted: true, want: holds},
		"no pools at all is not «all of them have nodes»": {want: needsAttention},
	} {
		t.Run(name, func(t *testing.T) {
			seen := readingOfPools(row.pools...)
			seen.Deleted = row.deleted
			got := otherPoolsServing(seen)
			expectFinding(t, got, row.want)
			if !strings.Contains(got.Reason, row.reason) {
				t.Errorf("the reason %q does not name %s", got.Reason, row.reason)
			}
		})
	}
}

// The log lags: an operation that has ended says nothing about the age of the one that runs now.
func TestAnOperationThatEndedIsNotTheOneThatRuns(t *testing.T) {
	type log = []azure.Activity
	began := at().Add(-312 * time.Hour)
	event := func(id, status string, after time.Duration) azure.Activity {
		return azure.Activity{OperationID: id, Status: status, At: began.Add(after)}
	}
	for name, row := range map[string]struct {
		events log
		want   time.Time
	}{
		"one without an end":            {log{event("a", "Started", 0), event("a", "Accepted", 1)}, began},
		"one that succeeded":            {log{event("a", "Started", 0), event("a", "Succeeded", 1)}, time.Time{}},
		"one that failed, newest first": {log{event("a", "Failed", 1), event("a", "Started", 0)}, time.Time{}},
		"one that was canceled":         {log{event("a", "Started", 0), event("a", "Canceled", 1)}, time.Time{}},
		"a refused write during an old one": {log{event("b", "Failed", 9), event("b", "Started", 9), event("a", "Started", 0)},
			began},
		"of two without an end the younger": {log{event("b", "Started", 9), event("a", "Started", 0)}, began.Add(9)},
		"an end without a start":            {log{event("a", "Succeeded", 0)}, time.Time{}},
		"events without an ID, one an end":  {log{event("", "Started", 0), event("", "Failed", 1)}, time.Time{}},
		"none":                              {nil, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := operationLog{}
			for _, event := range row.events {
				seen.add(event)
			}
			if got := seen.running(); !got.Equal(row.want) {
				t.Errorf("it began at %s, want %s", got, row.want)
			}
		})
	}
}

func TestOperationAge(t *testing.T) {
	cluster := readingOf(azure.Cluster{State: "Updating", Pools: []azure.Pool{{Name: "system", State: "Updating"}}})
	for name, row := range map[string]struct {
		start        time.Time
		stuck, still expected
	}{
		"three days old":           {at().Add(-72 * time.Hour), holds, needsAttention},
		"exactly the settle age":   {at().Add(-30 * time.Minute), holds, needsAttention},
		"a second younger":         {at().Add(-30*time.Minute + time.Second), deferred, deferred},
		"in the future, by a skew": {at().Add(time.Minute), deferred, deferred},
		"never seen":               {time.Time{}, unknown, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			ofTheCluster, ofThePool := ofCluster(cluster), ofPool(cluster)
			ofTheCluster.Start, ofThePool.Start = row.start, row.start
			expectFinding(t, operationStuck(ofTheCluster), row.stuck)
			expectFinding(t, poolAtRest(ofThePool), row.still)
		})
	}
	rest := readingOf(azure.Cluster{State: "Failed", Pools: []azure.Pool{{Name: "system", State: "Failed"}}})
	expectFinding(t, operationStuck(ofCluster(rest)), holds)
	expectFinding(t, poolAtRest(ofPool(rest)), holds)
}

func TestStatesOfOperations(t *testing.T) {
	for state, want := range map[string][2]bool{
		"Updating": {true, true}, "Upgrading": {true, true}, "Canceling": {true, true}, "Creating": {false, true},
		"Deleting": {false, true}, "Scaling": {false, true}, "Starting": {false, true}, "Stopping": {false, true},
		"Succeeded": {}, "Failed": {}, "Canceled": {}, "": {},
	} {
		if got := [2]bool{operating(state), changing(state)}; got != want {
			t.Errorf("%q: operating %v, changing %v", state, got[0], got[1])
		}
	}
}

func TestNoStandInLeft(t *testing.T) {
	system, name := azure.Pool{Name: "system"}, standInName(inputs().poolID(), "")
	expectFinding(t, noStandInLeft(readingOfPools(system)), holds)
	expectFinding(t, noStandInLeft(readingOfPools(system, azure.Pool{Name: name})), nothingToDo)
	expectFinding(t, noStandInLeft(readingOfPools(azure.Pool{Name: "workers"})), unknown)
}

func TestNodesAsFound(t *testing.T) {
	cordoned := kube.Node{UID: "1", Unschedulable: true}
	for name, row := range map[string]struct {
		was, is kube.Node
		want    expected
	}{
		"as it was":                  {kube.Node{UID: "1"}, kube.Node{UID: "1"}, holds},
		"cordoned before":            {cordoned, cordoned, holds},
		"cordoned since, by anybody": {kube.Node{UID: "1"}, cordoned, nothingToDo},
		"a new node, by us":          {kube.Node{UID: "1"}, kube.Node{UID: "2", CordonedBy: "run-1"}, nothingToDo},
		"a new node, by others":      {kube.Node{UID: "1"}, kube.Node{UID: "2", Unschedulable: true}, holds},
	} {
		t.Run(name, func(t *testing.T) {
			seen := readingOfPools()
			seen.taken = &snapshot{OtherNodes: []kube.Node{row.was}}
			expectFinding(t, nodesAsFound(asFoundOf(seen, []kube.Node{row.is})), row.want)
		})
	}
}

func TestClusterSucceeded(t *testing.T) {
	other := azure.Pool{Name: "infra", State: "Failed"}
	for name, row := range map[string]struct {
		state string
		pools []azure.Pool
		want  expected
	}{
		"Succeeded":                             {"Succeeded", nil, holds},
		"Succeeded beside a wedged pool":        {"Succeeded", []azure.Pool{other}, holds},
		"Failed because of another pool":        {"Failed", []azure.Pool{other}, holds},
		"Failed for no other pool's sake":       {"Failed", []azure.Pool{{Name: "system", State: "Failed"}}, nothingToDo},
		"Updating still, beside a wedged pool":  {"Updating", []azure.Pool{other}, nothingToDo},
		"Canceling still, beside a wedged pool": {"Canceling", []azure.Pool{other}, nothingToDo},
	} {
		t.Run(name, func(t *testing.T) {
			seen := readingOf(azure.Cluster{State: row.state, Pools: row.pools})
			expectFinding(t, clusterSucceeded(seen), row.want)
		})
	}
}

// TestMissingPoolNamesThoseThatAreThere, in the order in which people look for them.
func TestMissingPoolNamesThoseThatAreThere(t *testing.T) {
	seen := readingOfPools(azure.Pool{Name: "zeta"}, azure.Pool{Name: "alpha"})
	got := poolMissing(seen)
	expectFinding(t, got, needsAttention)
	if !strings.HasSuffix(got.Reason, "the cluster has: alpha, zeta") {
		t.Errorf("it says %q", got.Reason)
	}
}
