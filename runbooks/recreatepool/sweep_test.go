package recreatepool

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// everyGuard gives each guard of a runbook once: guards, checks, and the preconditions of every step.
func everyGuard(book runbook.Runbook) map[string]runbook.Guard {
	all := slices.Concat(book.Guards, book.Checks)
	for _, step := range slices.Concat(book.Preflight, book.Steps) {
		all = append(all, step.Preconditions...)
		if step.Rollback != nil {
			all = append(all, step.Rollback.Preconditions...)
		}
	}
	guards := map[string]runbook.Guard{}
	for _, guard := range all {
		guards[guard.Name] = guard
	}
	return guards
}

func replayed(t *testing.T) runbook.Runbook {
	t.Helper()
	book, err := Replayed(inputs(), runbook.Target{ID: (&recreation{Inputs: inputs()}).runbook().Target.ID})
	if err != nil {
		t.Fatal(err)
	}
	return book
}

// TestReplayedRunbookAsksTheSame as the one that acts, from recorded readings alone, and of its own target only.
func TestReplayedRunbookAsksTheSame(t *testing.T) {
	live, err := New(World{}, inputs())
	if err != nil {
		t.Fatal(err)
	}
	again := everyGuard(replayed(t))
	for name, guard := range everyGuard(live) {
		if !guard.Recorded() || !again[name].Recorded() || guard.NotOverridable != again[name].NotOverridable {
			t.Errorf("guard %s is not the same, or decides while it reads", name)
		}
	}
	if len(again) != len(everyGuard(live)) {
		t.Errorf("%d guards, not %d", len(again), len(everyGuard(live)))
	}
	if _, err := Replayed(inputs(), runbook.Target{ID: "another"}); err == nil {
		t.Error("the record of another target was taken")
	}
	if _, err := Replayed(Inputs{}, live.Target); err == nil {
		t.Error("invalid inputs were taken")
	}
}

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	rows := runbooktest.Rows{}
	for _, some := range []runbooktest.Rows{
		clusterSweep(), poolSweep(), operationSweep(), wedgeSweep(), standInSweep(t), nodeSweep(), snapshotSweep(t),
		budgetSweep(),
	} {
		maps.Copy(rows, some)
	}
	runbooktest.SweepGuards(t, rows, replayed(t))
}

// absence is what is not taken of the answer that there is no cluster.
func absence() map[string]string {
	return map[string]string{"absent.absence": onlyWhether, "absent.class": onlyWhether, "absent.reason": onlyWhether}
}

func clusterSweep() runbooktest.Rows {
	absent := readingOfPools()
	absent.Absent = &runbook.Failure{Absence: runbook.AbsentMissing, Reason: "not found"}
	failed, wedged := azure.Pool{Name: "infra", State: "Failed"}, azure.Pool{Name: "system", State: "Failed"}
	of := func(state string, pools ...azure.Pool) reading {
		return readingOf(azure.Cluster{State: state, Pools: pools})
	}
	left := azure.Pool{Name: standInName(inputs().poolID(), ""), State: "Failed"}
	first, second := standInOfRun("run-0"), standInOfRun("run-1")
	first.Name, second.Name = "s4", "s5"
	system := azure.Pool{Name: "system", State: "Succeeded"}
	return runbooktest.Rows{
		"cluster-exists": swept{
			readings: []any{of("Succeeded"), absent}, answers: []runbook.Answer{yes, no},
			decides: []string{"absent"}, evidence: ofTheCluster,
			unused: absence(),
		}.row(),
		"cluster-recoverable": swept{
			readings: []any{of("Succeeded"), of("Creating")}, answers: []runbook.Answer{yes, no},
			decides: []string{"cluster.state"}, evidence: ofTheCluster,
		}.row(),
		"cluster-succeeded": swept{
			readings: []any{of("Succeeded"), of("Failed", failed), of("Failed", wedged), of("Updating", failed)},
			answers:  []runbook.Answer{yes, no},
			decides:  []string{"cluster.state", "cluster.pools[].name", "cluster.pools[].state"}, evidence: ofTheCluster,
		}.row(),
		"no-stand-in-left": swept{
			readings: []any{
				of("", system), of("", system, left), of("", left), of(""), of("", system, first),
				of("", system, first, second),
			},
			answers:  []runbook.Answer{yes, no, unseen},
			decides:  []string{"cluster.pools[].name", "cluster.pools[].tags"},
			said:     []string{"cluster.pools[].state", "cluster.pools[].tags." + runTag},
			evidence: ofTheCluster,
		}.row(),
	}
}

func budgetSweep() runbooktest.Rows {
	blocked := &blockedDrain{More: 1, Left: []kube.RemainingPod{{Pod: "shop/web", Node: "n1",
		Blocker: "PodDisruptionBudget web"}}}
	row := runbooktest.Row{
		Answers: []runbook.Answer{yes, no}, Evidence: []string{"now", "blocked.left[].node"},
		Said: []string{"blocked.left", "blocked.left[].pod", "blocked.left[].blocker", "blocked.more", "blocked.failure"},
	}
	for _, by := range []*blockedDrain{nil, blocked, {Left: []kube.RemainingPod{}, Failure: "AKS says"}} {
		raw, _ := json.Marshal(budgets{Now: time.Unix(0, 0).UTC(), Blocked: by}) // it can always be encoded
		row.Readings = append(row.Readings, string(raw))
	}
	return runbooktest.Rows{"budgets-respected": row}
}

func poolSweep() runbooktest.Rows {
	of := func(pools ...azure.Pool) reading { return readingOfPools(pools...) }
	system, spot := azure.Pool{Name: "system", State: "Failed", Count: 2}, azure.Pool{Name: "spot", Count: 1}
	empty := azure.Pool{Name: "spot", Tags: map[string]string{purposeTag: purpose}}
	ours := of(spot)
	ours.Deleted = true
	again := of(system)
	again.Deleted, again.Recreated = true, true
	evidence, answers := slices.Concat(ofTheCluster, ofAPool), []runbook.Answer{yes, no}
	return runbooktest.Rows{
		"other-pools-serving": swept{
			readings: []any{of(system, spot), of(system, empty), of(spot), ours}, answers: answers, evidence: evidence,
			decides: []string{"deleted", "cluster.pools[].name", "cluster.pools[].count", "cluster.pools[].tags"},
		}.row(),
		"pool-wedged": swept{
			readings: []any{of(system), of(spot)}, answers: answers, evidence: evidence,
			decides: []string{"cluster.pools[].name", "cluster.pools[].state"},
		}.row(),
		"source-present": swept{
			readings: []any{of(system), of(spot)}, answers: answers, evidence: evidence,
			decides: []string{"cluster.pools[].name"},
		}.row(),
		"recreated-by-us": swept{
			readings: []any{again, of(system)}, answers: answers, evidence: evidence,
			decides: []string{"deleted", "recreated", "cluster.pools[].name"},
		}.row(),
	}
}

func operationSweep() runbooktest.Rows {
	busy := readingOf(azure.Cluster{State: "Updating", Pools: []azure.Pool{{Name: "system", State: "Updating"}}})
	rest := readingOf(azure.Cluster{State: "Failed", Pools: []azure.Pool{{Name: "system", State: "Failed"}}})
	rows := func(of func(reading) operation) []any {
		unseen, young, old := of(busy), of(busy), of(busy)
		young.Start, old.Start = at().Add(-time.Minute), at().Add(-time.Hour)
		return []any{of(rest), unseen, young, old}
	}
	all := []runbook.Answer{yes, no, unseen}
	return runbooktest.Rows{
		"operation-stuck": swept{
			readings: rows(ofCluster), answers: all, decides: []string{"now"}, said: []string{"what"},
			evidence: append([]string{"kind"}, ofTheCluster...),
		}.row(),
		"pool-at-rest": swept{
			readings: rows(ofPool), answers: all, decides: []string{"now"},
			said:     []string{"what", "cluster.pools[].name", "cluster.pools[].state"},
			evidence: append([]string{"kind", "cluster.id", "cluster.seen"}, ofAPool...),
		}.row(),
	}
}

func wedgeSweep() runbooktest.Rows {
	reading := func(edit func(*wedge)) any {
		w := wedgeOf()
		w.AKS.NodeResourceGroup = "MC_fleet"
		edit(&w)
		return w
	}
	blind := &runbook.Failure{Absence: runbook.AbsentDenied, Class: "denied", Reason: "403"}
	storm := func(w *wedge) {
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
			w.Failed[id] = true
		}
		w.InterfacesSkipped = true
	}
	return runbooktest.Rows{"wedge-evidence": swept{
		readings: []any{
			reading(storm), reading(func(w *wedge) { w.Sets = nil }),
			reading(func(w *wedge) { w.Failed["a"], w.Interfaces, w.Empty = true, 1, "nic" }),
			reading(func(w *wedge) { w.Interfaces = 2 }), reading(func(w *wedge) { w.Interfaces, w.Unclear = 2, 1 }),
			reading(func(w *wedge) { w.LogFailure, w.InterfacesFailure = blind, blind }),
			reading(func(w *wedge) { w.Diagnosis = []runbook.Evidence{runbook.NewEvidence("nodes", "", at(), 3)} }),
		},
		answers:  []runbook.Answer{yes, no, unseen},
		said:     []string{"cluster.nodeResourceGroup", "since", "logFailure.reason", "interfacesFailure.reason"},
		evidence: []string{"now", "sets[]", "diagnosis"},
		unused: map[string]string{
			"logFailure.absence": onlyWhether, "logFailure.class": onlyWhether,
			"interfacesFailure.absence": onlyWhether, "interfacesFailure.class": onlyWhether,
			"sets[].id": "failed writes were counted by it",
		},
	}.row()}
}

// standInOfRun is the stand-in as ARM lists it.
func standInOfRun(run string) azure.Pool {
	return azure.Pool{
		Name: standInName(inputs().poolID(), ""), State: "Succeeded", Mode: "System", Count: 1,
		Tags: map[string]string{purposeTag: purpose, sourceTag: inputs().poolID(), runTag: run},
	}
}

func standInSweep(t *testing.T) runbooktest.Rows {
	source := azure.Pool{Name: "system", State: "Failed", Mode: "System", Count: 1}
	leftOf := func(open string, unread bool, pools ...azure.Pool) any {
		return leftovers{reading: readingOfPools(pools...), Open: open, LeaseUnread: unread}
	}
	nobody := leftovers{reading: readingOfPools()}
	nobody.Absent = &runbook.Failure{Absence: runbook.AbsentMissing, Reason: "not found"}
	ready := func(edit func(*reading, *azure.Pool), nodes ...kube.Node) any {
		standIn := standInOfRun("run-1")
		seen := readingOfPools()
		seen.Before = &azure.Pool{Name: "system", Count: 1, OSType: "Linux"}
		edit(&seen, &standIn)
		seen.AKS.Pools = []azure.Pool{standIn, source}
		return withNodes{reading: seen, Nodes: nodes}
	}
	asItIs := func(*reading, *azure.Pool) {}
	of := func(node kube.Node, system map[string][]kube.Node, pools ...azure.Pool) any {
		standIn := standInPool{readingOfPools(pools...), standInOfRun("").Name, "run-1", definitionIn(t, "Succeeded")}
		return others{standIn, []kube.Node{node}, system}
	}
	none := others{standInPool: standInPool{reading: readingOfPools()}}
	serves, not, two := kube.Node{Ready: true}, kube.Node{}, standInOfRun("run-1")
	two.Count = 2
	user := standInOfRun("run-1")
	user.Mode = "User"
	elsewhere := map[string][]kube.Node{"infra": {serves}}
	return runbooktest.Rows{
		"leftovers-known": swept{
			readings: []any{
				leftOf("", true), nobody, leftOf("", true, standInOfRun("run-1"), source),
				leftOf("", false, standInOfRun("run-0"), source), leftOf("run-0", false, standInOfRun("run-0"), source),
				leftOf("", true, standInOfRun("run-0"), source),
				leftOf("", false, standInOfRun("run-0")),
			},
			answers:  []runbook.Answer{yes, no, unseen},
			decides:  []string{"absent", "run", "cluster.pools[].name", "cluster.pools[].state", "cluster.pools[].tags"},
			evidence: append([]string{"cluster.pools[].etag"}, ofTheCluster...),
			unused:   absence(),
		}.row(),
		"stand-in-ready": swept{
			readings: []any{
				ready(asItIs, serves), ready(asItIs, not), ready(func(seen *reading, _ *azure.Pool) { seen.Run = "run-2" }, serves),
				ready(func(_ *reading, standIn *azure.Pool) { standIn.State = "Deleting" }, serves),
				ready(func(seen *reading, _ *azure.Pool) { seen.Before.Count, seen.Reduced = 2, true }, serves),
				ready(func(seen *reading, standIn *azure.Pool) {
					seen.Before.OSType, standIn.Name = "Windows", standInName(inputs().poolID(), "Windows")
				}, serves),
			},
			answers: []runbook.Answer{yes, no},
			decides: []string{
				"run", "before", "reduced", "cluster.pools[].name", "cluster.pools[].state", "cluster.pools[].tags",
			},
			evidence: []string{"now"},
			unused:   nodesUnused("nodes[].", beforeUnused("count", "osType")),
		}.row(),
		"stand-in-dispensable": swept{
			readings: []any{
				none, of(serves, elsewhere, two), of(not, nil, two), of(not, nil, standInOfRun("run-1")),
				of(serves, nil, standInOfRun("run-1")), of(serves, nil, user), of(serves, nil),
			},
			answers:  []runbook.Answer{yes, no, unseen},
			decides:  []string{"cluster.pools[].name", "cluster.pools[].mode", "cluster.pools[].count"},
			evidence: []string{"now"},
			unused: nodesUnused("own[].", nodesUnused("system.infra[].", map[string]string{
				"definition.name": onlyWhether, "definition.properties": onlyWhether, "madeBy": "the removal compares it",
			})),
		}.row(),
	}
}

// nodesUnused adds what a guard that counts serving nodes does not take of them.
func nodesUnused(nodes string, unused map[string]string) map[string]string {
	for _, field := range []string{"name", "uid", "cordonedBy"} {
		unused[nodes+field] = "nodes are counted by whether they serve"
	}
	return unused
}

// beforeUnused is what is not taken of the pool as the snapshot has it.
func beforeUnused(used ...string) map[string]string {
	unused := map[string]string{}
	for _, field := range []string{"name", "state", "etag", "mode", "osType", "count", "minCount", "tags", "labels"} {
		if !slices.Contains(used, field) {
			unused["before."+field] = forOthers
		}
	}
	return unused
}

func nodeSweep() runbooktest.Rows {
	serves, not := kube.Node{UID: "1", Ready: true}, kube.Node{UID: "2"}
	ready := func(wanted int, nodes ...kube.Node) any {
		seen := readingOfPools()
		seen.Before = &azure.Pool{MinCount: wanted}
		return withNodes{reading: seen, Nodes: nodes}
	}
	found := func(was, is kube.Node) any {
		seen := readingOfPools()
		seen.taken = &snapshot{OtherNodes: []kube.Node{was}}
		return asFoundOf(seen, []kube.Node{is})
	}
	const cordons = "only who is cordoned"
	cordoned := kube.Node{Name: "a", UID: "1", Unschedulable: true}
	return runbooktest.Rows{
		"nodes-ready": swept{
			readings: []any{ready(1, serves), ready(1, not), ready(2, serves)},
			answers:  []runbook.Answer{yes, no, unseen}, decides: []string{"before"}, evidence: []string{"now"},
			unused: nodesUnused("nodes[].", beforeUnused("minCount")),
		}.row(),
		"nodes-as-found": swept{
			readings: []any{
				found(serves, serves), found(cordoned, cordoned), found(serves, cordoned),
				found(not, kube.Node{Name: "b", UID: "3", CordonedBy: "run-1"}),
			},
			answers: []runbook.Answer{yes, no}, decides: []string{"run"}, said: []string{"count", "cordoned[].name"},
			unused: map[string]string{
				"cordoned[].ready": cordons, "cordoned[].deleting": cordons, "nodesBefore[].name": cordons,
				"nodesBefore[].ready": cordons, "nodesBefore[].cordonedBy": cordons, "nodesBefore[].deleting": cordons,
			},
		}.row(),
	}
}

func snapshotSweep(t *testing.T) runbooktest.Rows {
	of := func(state string, different ...string) any {
		return comparison{readingOfPools(), definitionIn(t, state), different}
	}
	return runbooktest.Rows{
		"snapshot-kept": swept{
			readings: []any{of("Failed"), of(""), of("Failed", "count: 4, not 3")}, answers: []runbook.Answer{yes, no},
			said: []string{"different[]"}, evidence: []string{"now", "current.properties"},
			unused: map[string]string{"current.name": forOthers},
		}.row(),
		"pool-matches-snapshot": swept{
			readings: []any{of("Succeeded"), of("Failed"), of(""), of("Succeeded", "count: 4, not 3")},
			answers:  []runbook.Answer{yes, no}, said: []string{"different[]"},
			evidence: []string{"now", "current.name", "current.properties.count", "current.properties.eTag"},
		}.row(),
	}
}
