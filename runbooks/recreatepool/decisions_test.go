package recreatepool

import (
	"fmt"
	"strings"
	"testing"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

// TestStandInIsDispensable: it stays while it may be the only system pool that serves.
func TestStandInIsDispensable(t *testing.T) {
	serves, not := kube.Node{Ready: true}, kube.Node{}
	system := func(nodes ...kube.Node) map[string][]kube.Node {
		return map[string][]kube.Node{"other": {not}, "system": nodes}
	}
	listed := func(mode string, count int) []azure.Pool { return []azure.Pool{{Name: "s1", Mode: mode, Count: count}} }
	for name, row := range map[string]struct {
		state  string
		pools  []azure.Pool
		own    []kube.Node
		system map[string][]kube.Node
		want   expected
		reason string
	}{
		"there is none": {"", nil, nil, nil, holds, "there is no such stand-in"},
		"another serves": {"Succeeded", listed("System", 1), []kube.Node{serves}, system(not, serves, serves), holds,
			`system pool "system" has 2 nodes that serve`},
		"it is of user mode": {"Succeeded", listed("User", 1), []kube.Node{serves}, system(not), holds, "is no system pool"},
		"it alone serves": {"Succeeded", listed("System", 1), []kube.Node{serves}, system(not), needsAttention,
			"no other system pool has a node that serves"},
		"ARM does not list it":     {"Succeeded", nil, []kube.Node{not}, system(not), needsAttention, "the stand-in stays"},
		"some of it is not seen":   {"Succeeded", listed("System", 2), []kube.Node{not}, system(not), unknown, "only 1 of"},
		"nothing of it serves":     {"Succeeded", listed("System", 1), []kube.Node{not}, system(not), holds, "none of the"},
		"it never had a node":      {"Failed", listed("System", 0), nil, system(), holds, "none of the stand-in's 0 nodes"},
		"it serves, no other does": {"Failed", listed("System", 2), []kube.Node{serves}, nil, needsAttention, "stays"},
	} {
		t.Run(name, func(t *testing.T) {
			standIn := standInPool{reading: readingOfPools(row.pools...), Name: "s1", Definition: definitionIn(t, row.state)}
			got := standInDispensable(others{standIn, row.own, row.system})
			expectFinding(t, got, row.want)
			if !strings.Contains(got.Reason, row.reason) {
				t.Errorf("because %q, want %q", got.Reason, row.reason)
			}
		})
	}
}

// TestSnapshotStillDescribesThePool, or the pool is not deleted.
func TestSnapshotStillDescribesThePool(t *testing.T) {
	for name, row := range map[string]struct {
		state     string
		different []string
		want      expected
	}{
		"as it was":           {"Failed", nil, holds},
		"somebody deleted it": {"", nil, needsAttention},
		"somebody changed it": {"Failed", []string{"count: 4, not 3"}, failed},
	} {
		t.Run(name, func(t *testing.T) {
			got := snapshotKept(comparison{readingOfPools(), definitionIn(t, row.state), row.different})
			if expectFinding(t, got, row.want); row.state != "" && len(got.Evidence) != 1 {
				t.Errorf("evidence %v", got.Evidence)
			}
		})
	}
}

// TestNewPoolMatchesTheSnapshot: one that differs is told field by field.
func TestNewPoolMatchesTheSnapshot(t *testing.T) {
	for name, row := range map[string]struct {
		state     string
		different []string
		want      expected
		reason    string
	}{
		"as it was":     {"Succeeded", nil, holds, ""},
		"absent":        {"", nil, nothingToDo, "the pool is absent"},
		"differs":       {"Succeeded", []string{"a: 1, not 2", "b: 3, not 4"}, nothingToDo, "a: 1, not 2; b: 3, not 4"},
		"Failed":        {"Failed", nil, nothingToDo, "the pool is Failed"},
		"still at work": {"Updating", nil, nothingToDo, "the pool is Updating"},
	} {
		t.Run(name, func(t *testing.T) {
			got := poolMatchesSnapshot(comparison{readingOfPools(), definitionIn(t, row.state), row.different})
			expectFinding(t, got, row.want)
			if !strings.Contains(got.Reason, row.reason) {
				t.Errorf("because %q, want %q", got.Reason, row.reason)
			}
		})
	}
}

// TestClusterIsNeverTakenForAbsent without ARM's word for it.
func TestClusterIsNeverTakenForAbsent(t *testing.T) {
	there := readingOfPools()
	expectFinding(t, clusterExists(there), holds)
	expectFinding(t, leftoversKnown(leftovers{reading: there}), holds)
	there.Absent = runbook.FailureOf(fmt.Errorf("404"))
	if got := clusterExists(there); got.Answer != runbook.AnswerDoesNotHold || !strings.Contains(got.Reason, "not found") {
		t.Errorf("%s: %s", got.Answer, got.Reason)
	}
	got := leftoversKnown(leftovers{reading: there})
	if expectFinding(t, got, holds); got.Reason != "no cluster, no stand-in" {
		t.Errorf("because %q", got.Reason)
	}
}

// TestOtherFailuresNameOtherPools: the target is what the run is about, and a cluster that is Succeeded has none.
func TestOtherFailuresNameOtherPools(t *testing.T) {
	pools := []azure.Pool{
		{Name: "system", State: "Failed"}, {Name: "a", State: "Failed"}, {Name: "b", State: "Canceled"},
		{Name: "c", State: "Succeeded"}, {Name: "d", State: "Updating"},
	}
	for state, want := range map[string]string{"Failed": "[pool a (Failed) pool b (Canceled)]", "Succeeded": "[]"} {
		if got := fmt.Sprint(otherFailures(azure.Cluster{State: state, Pools: pools}, "system")); got != want {
			t.Errorf("%s because of %s, want %s", state, got, want)
		}
	}
}

// TestStandInOfAPoolThatIsGoneStays: the pool's definition is in that other run's journal alone.
func TestStandInOfAPoolThatIsGoneStays(t *testing.T) {
	seen := leftovers{reading: readingOfPools(azure.Pool{Name: "s1", Tags: map[string]string{
		"purpose": "salve-stand-in", "salve-source": inputs().poolID(), "salve-run": "run-0",
	}})}
	got := leftoversKnown(seen)
	expectFinding(t, got, needsAttention)
	if want := `pool "system" is gone: only that run's journal knows`; !strings.Contains(got.Reason, want) {
		t.Errorf("because %q, want %q", got.Reason, want)
	}
}

// TestRunThatStopsSaysWhatServes: the stand-in, by the name that it has, until it was retired.
func TestRunThatStopsSaysWhatServes(t *testing.T) {
	left := azure.Pool{Name: "s1", Tags: map[string]string{
		"purpose": "salve-stand-in", "salve-source": inputs().poolID(), "salve-run": "run-1",
	}}
	r := recreationOf(t, recordedRun{}, azure.Cluster{Pools: []azure.Pool{left}})
	for retired, want := range map[bool]string{true: "", false: "the stand-in pool (s1) keeps serving"} {
		done := func(step string) bool { return retired && step == "retire-stand-in" }
		if got := r.remaining(done); got != want {
			t.Errorf("retired %v: %q, want %q", retired, got, want)
		}
	}
}

// TestSizeOfTheStandIn is that of its pool, unless the inputs ask for another or quota leaves one node.
func TestSizeOfTheStandIn(t *testing.T) {
	for name, row := range map[string]struct {
		count, asked int
		reduced      bool
		want         int
	}{
		"as the pool": {count: 3, want: 3}, "as asked": {count: 3, asked: 5, want: 5}, "never empty": {want: 1},
		"by quota":               {count: 3, reduced: true, want: 1},
		"by quota, though asked": {count: 3, asked: 5, reduced: true, want: 1},
	} {
		seen := readingOfPools(azure.Pool{Name: "system", Count: row.count, Mode: "System"})
		seen.StandInSize, seen.Reduced = row.asked, row.reduced
		if got := seen.standIn(); got.Count != row.want || got.Mode != "System" {
			t.Errorf("%s: %d nodes of mode %s, want %d", name, got.Count, got.Mode, row.want)
		}
	}
}
