package recreatepool

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
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

// Why a reading has what a guard does not take.
const (
	forEvidence = "for the evidence"
	forSteps    = "for steps and for what is read next"
	forOthers   = "all guards of a round share the reading"
)

// besides gives what of every reading is unused, but for some of it.
func besides(used ...string) map[string]string {
	unused := map[string]string{
		"cluster.id": forEvidence, "cluster.name": forSteps, "cluster.etag": forEvidence, "cluster.state": forEvidence,
		"cluster.version": forSteps, "cluster.nodeResourceGroup": forSteps, "cluster.pools": forOthers,
		"cluster.hosts": forSteps, "cluster.seen": forEvidence, "absent": "read of a cluster that is there",
		"before": forOthers, "deleted": forOthers, "recreated": forOthers, "reduced": forOthers, "run": forOthers,
		"now": forEvidence,
	}
	for _, path := range used {
		delete(unused, path)
	}
	ofCluster := func(path string, _ string) bool { return strings.HasPrefix(path, "cluster.") }
	if !slices.ContainsFunc(used, func(path string) bool { return ofCluster(path, "") }) {
		maps.DeleteFunc(unused, ofCluster)
		unused["cluster"] = forEvidence
	}
	return unused
}

// poolsBesides is besides for guards that take the cluster's pools, but for some fields of theirs.
func poolsBesides(used ...string) map[string]string {
	unused := besides(append(used, "cluster.pools")...)
	for _, field := range []string{"etag", "mode", "osType", "count", "minCount", "tags", "labels"} {
		if path := "cluster.pools[]." + field; !slices.Contains(used, path) {
			unused[path] = forOthers
		}
	}
	return unused
}

// with adds what else is unused.
func with(unused map[string]string, more ...string) map[string]string {
	for _, path := range more {
		unused[path] = forEvidence
	}
	return unused
}

// swept is a row of the sweep: readings that have a guard give each of its answers, and what of them it does not take.
type swept struct {
	readings []any
	unused   map[string]string
	answers  []runbook.Answer
}

const (
	yes    = runbook.AnswerHolds
	no     = runbook.AnswerDoesNotHold
	unseen = runbook.AnswerUnknown
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	rows := map[string]swept{}
	for _, some := range []map[string]swept{
		clusterSweep(), poolSweep(), operationSweep(), wedgeSweep(), standInSweep(t), nodeSweep(), snapshotSweep(t),
	} {
		maps.Copy(rows, some)
	}
	guards := everyGuard(replayed(t))
	for name, guard := range guards {
		t.Run(name, func(t *testing.T) {
			var raw []json.RawMessage
			answers := map[runbook.Answer]bool{}
			for _, reading := range rows[name].readings {
				encoded, err := json.Marshal(reading)
				if err != nil {
					t.Fatal(err)
				}
				finding, err := guard.Decide(runbook.Reading{Value: encoded})
				if err != nil {
					t.Fatal(err)
				}
				raw, answers[finding.Answer] = append(raw, encoded), true
			}
			for _, answer := range rows[name].answers {
				if !answers[answer] {
					t.Errorf("no reading has it answer %s", answer)
				}
			}
			if len(answers) != len(rows[name].answers) {
				t.Errorf("it answers %v", answers)
			}
			runbooktest.SweepReadings(t, guard, raw, rows[name].unused)
		})
	}
	if len(rows) != len(guards) {
		t.Errorf("%d rows, %d guards", len(rows), len(guards))
	}
}

func clusterSweep() map[string]swept {
	absent := readingOfPools()
	absent.Absent = &runbook.Failure{Absence: runbook.AbsentMissing, Reason: "not found"}
	failed := azure.Pool{Name: "infra", State: "Failed"}
	of := func(state string, pools ...azure.Pool) reading {
		return readingOf(azure.Cluster{State: state, Pools: pools})
	}
	left := azure.Pool{Name: standInName(inputs().poolID(), ""), State: "Failed"}
	first, second := standInOfRun("run-0"), standInOfRun("run-1")
	first.Name, second.Name = "s4", "s5"
	system := azure.Pool{Name: "system", State: "Succeeded"}
	none := besides("absent")
	none["absent.absence"], none["absent.class"] = forEvidence, forEvidence
	none["absent.reason"] = forEvidence
	return map[string]swept{
		"cluster-exists":      {[]any{of("Succeeded"), absent}, none, []runbook.Answer{yes, no}},
		"cluster-recoverable": {[]any{of("Succeeded"), of("Creating")}, besides("cluster.state"), []runbook.Answer{yes, no}},
		"cluster-succeeded": {[]any{of("Succeeded"), of("Failed", failed), of("Updating", failed)},
			poolsBesides("cluster.state"), []runbook.Answer{yes, no}},
		"no-stand-in-left": {[]any{of("", system), of("", system, left), of("", left), of(""),
			of("", system, first, second)},
			poolsBesides("cluster.pools[].tags"), []runbook.Answer{yes, no, unseen}},
	}
}

func poolSweep() map[string]swept {
	of := func(pools ...azure.Pool) reading { return readingOfPools(pools...) }
	system, spot := azure.Pool{Name: "system", State: "Failed", Count: 2}, azure.Pool{Name: "spot", Count: 1}
	empty := azure.Pool{Name: "spot", Tags: map[string]string{purposeTag: purpose}}
	ours := of(spot)
	ours.Deleted = true
	again := of(system)
	again.Deleted, again.Recreated = true, true
	return map[string]swept{
		"other-pools-serving": {[]any{of(system, spot), of(system, empty), of(spot), ours},
			with(poolsBesides("deleted", "cluster.pools[].count", "cluster.pools[].tags"), "cluster.pools[].state"),
			[]runbook.Answer{yes, no}},
		"pool-wedged": {[]any{of(system), of(spot)}, poolsBesides(), []runbook.Answer{yes, no}},
		"source-present": {[]any{of(system), of(spot)}, with(poolsBesides(), "cluster.pools[].state"),
			[]runbook.Answer{yes, no}},
		"recreated-by-us": {[]any{again, of(system)},
			with(poolsBesides("deleted", "recreated"), "cluster.pools[].state"), []runbook.Answer{yes, no}},
	}
}

func operationSweep() map[string]swept {
	busy := readingOf(azure.Cluster{State: "Updating", Pools: []azure.Pool{{Name: "system", State: "Updating"}}})
	rest := readingOf(azure.Cluster{State: "Failed", Pools: []azure.Pool{{Name: "system", State: "Failed"}}})
	rows := func(of func(reading) operation) []any {
		unseen, young, old := of(busy), of(busy), of(busy)
		young.Start, old.Start = at().Add(-time.Minute), at().Add(-time.Hour)
		return []any{of(rest), unseen, young, old}
	}
	all := []runbook.Answer{yes, no, unseen}
	return map[string]swept{
		"operation-stuck": {rows(ofCluster), with(besides("now"), "kind"), all},
		"pool-at-rest":    {rows(ofPool), with(poolsBesides("now"), "kind"), all},
	}
}

func wedgeSweep() map[string]swept {
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
	unused := besides("cluster.nodeResourceGroup")
	for path, reason := range map[string]string{
		"sets[]": "only whether there is one", "logFailure.absence": forEvidence, "logFailure.class": forEvidence,
		"interfacesFailure.absence": forEvidence, "interfacesFailure.class": forEvidence,
		"diagnosis": forEvidence,
	} {
		unused[path] = reason
	}
	return map[string]swept{"wedge-evidence": {[]any{
		reading(storm), reading(func(w *wedge) { w.Sets = nil }),
		reading(func(w *wedge) { w.Failed["a"], w.Interfaces, w.Empty = true, 1, "nic" }),
		reading(func(w *wedge) { w.Interfaces = 2 }), reading(func(w *wedge) { w.Interfaces, w.Unclear = 2, 1 }),
		reading(func(w *wedge) { w.LogFailure, w.InterfacesFailure = blind, blind }),
	}, unused, []runbook.Answer{yes, no, unseen}}}
}

// standInOfRun is the stand-in as ARM lists it.
func standInOfRun(run string) azure.Pool {
	return azure.Pool{
		Name: standInName(inputs().poolID(), ""), State: "Succeeded", Mode: "System", Count: 1,
		Tags: map[string]string{purposeTag: purpose, sourceTag: inputs().poolID(), runTag: run},
	}
}

func standInSweep(t *testing.T) map[string]swept {
	source := azure.Pool{Name: "system", State: "Failed", Mode: "System", Count: 1}
	leftOf := func(open string, unread bool, pools ...azure.Pool) any {
		return leftovers{reading: readingOfPools(pools...), Open: open, LeaseUnread: unread}
	}
	nobody := leftovers{reading: readingOfPools()}
	nobody.Absent = &runbook.Failure{Absence: runbook.AbsentMissing, Reason: "not found"}
	known := poolsBesides("absent", "run", "cluster.pools[].tags")
	for _, path := range []string{"absent.absence", "absent.class", "absent.reason"} {
		known[path] = forEvidence
	}
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
	return map[string]swept{
		"leftovers-known": {[]any{
			leftOf("", true), nobody, leftOf("", true, standInOfRun("run-1"), source),
			leftOf("", false, standInOfRun("run-0"), source), leftOf("run-0", false, standInOfRun("run-0"), source),
			leftOf("", true, standInOfRun("run-0"), source),
			leftOf("", false, standInOfRun("run-0")),
		}, known, []runbook.Answer{yes, no, unseen}},
		"stand-in-ready": {[]any{
			ready(asItIs, serves), ready(asItIs, not), ready(func(seen *reading, _ *azure.Pool) { seen.Run = "run-2" }, serves),
			ready(func(_ *reading, standIn *azure.Pool) { standIn.State = "Deleting" }, serves),
			ready(func(seen *reading, _ *azure.Pool) { seen.Before.Count, seen.Reduced = 2, true }, serves),
			ready(func(seen *reading, standIn *azure.Pool) {
				seen.Before.OSType, standIn.Name = "Windows", standInName(inputs().poolID(), "Windows")
			}, serves),
		}, nodesUnused(poolsBesides("run", "before", "reduced", "cluster.pools[].tags"), "before.name", "before.state",
			"before.etag", "before.mode", "before.minCount", "before.tags", "before.labels"), []runbook.Answer{yes, no}},
		"stand-in-dispensable": {[]any{
			none, of(serves, elsewhere, two), of(not, nil, two), of(not, nil, standInOfRun("run-1")),
			of(serves, nil, standInOfRun("run-1")), of(serves, nil, user), of(serves, nil),
		}, dispensableUnused(), []runbook.Answer{yes, no, unseen}},
	}
}

// nodesUnused adds what a guard that counts serving nodes does not take of them.
func nodesUnused(unused map[string]string, more ...string) map[string]string {
	return with(unused, append(more, "nodes[].name", "nodes[].uid", "nodes[].cordonedBy")...)
}

func dispensableUnused() map[string]string {
	unused := with(poolsBesides("cluster.pools[].mode", "cluster.pools[].count"), "cluster.pools[].state", "madeBy")
	for _, nodes := range []string{"own[].", "system.infra[]."} {
		with(unused, nodes+"name", nodes+"uid", nodes+"cordonedBy")
	}
	unused["definition.name"], unused["definition.properties"] = "only whether there is one", "only whether there is one"
	return unused
}

func nodeSweep() map[string]swept {
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
	cordoned := kube.Node{Name: "a", UID: "1", Unschedulable: true}
	return map[string]swept{
		"nodes-ready": {[]any{ready(1, serves), ready(1, not), ready(2, serves)},
			nodesUnused(besides("before"), "before.name", "before.state", "before.etag", "before.mode", "before.osType",
				"before.count", "before.tags", "before.labels"), []runbook.Answer{yes, no, unseen}},
		"nodes-as-found": {[]any{
			found(serves, serves), found(cordoned, cordoned), found(serves, cordoned),
			found(not, kube.Node{Name: "b", UID: "3", CordonedBy: "run-1"}),
		}, with(besides("run"), "cordoned[].ready", "cordoned[].deleting", "nodesBefore[].name", "nodesBefore[].ready",
			"nodesBefore[].cordonedBy", "nodesBefore[].deleting"), []runbook.Answer{yes, no}},
	}
}

func snapshotSweep(t *testing.T) map[string]swept {
	of := func(state string, different ...string) any {
		return comparison{readingOfPools(), definitionIn(t, state), different}
	}
	unused := func(more ...string) map[string]string {
		return with(besides(), append(more, "current.name", "current.properties.count", "current.properties.eTag")...)
	}
	answers := []runbook.Answer{yes, no}
	return map[string]swept{
		"snapshot-kept": {[]any{of("Failed"), of(""), of("Failed", "count: 4, not 3")},
			with(besides(), "current.name", "current.properties"), answers},
		"pool-matches-snapshot": {[]any{of("Succeeded"), of("Failed"), of(""), of("Succeeded", "count: 4, not 3")},
			unused(), answers},
	}
}
