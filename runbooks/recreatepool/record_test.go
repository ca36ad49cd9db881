package recreatepool

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

// recordedRun is a run whose record says what a test writes into it.
type recordedRun struct {
	runbook.Run
	notes map[string]json.RawMessage
	back  map[string]json.RawMessage
	done  map[string]bool
}

func (recordedRun) ID() string { return "run-1" }
func (recordedRun) Round() int { return 1 }

func (r recordedRun) Recall(name string, into any) (bool, error) {
	raw, found := r.notes[name]
	if !found {
		return false, nil
	}
	return true, json.Unmarshal(raw, into)
}

func (r recordedRun) ReadBack(_ context.Context, name string, into any) (bool, error) {
	return recordedRun{notes: r.back}.Recall(name, into)
}

func (r recordedRun) Step(name string) runbook.StepStatus {
	if r.done[name] {
		return runbook.StepStatus{Done: true, Attempts: 1}
	}
	return runbook.StepStatus{}
}

// recreationOf is the runbook at work in a round in which ARM answered with a cluster.
func recreationOf(t *testing.T, run runbook.Run, cluster azure.Cluster) *recreation {
	t.Helper()
	r := &recreation{World: World{Clock: clock.RealClock{}}, Inputs: inputs()}
	_, err := r.seen.Get(t.Context(), run, func(context.Context) (arm, error) { return arm{AKS: cluster}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// goodRecord holds the snapshot of pool system.
func goodRecord(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	in := inputs()
	definition, err := json.Marshal(map[string]any{
		"id": in.poolID(), "name": in.Pool, "properties": map[string]any{
			"vmSize": "Standard_D4s_v5", "vnetSubnetID": "/subnets/nodes", "eTag": "e1", "count": 3, "mode": "System",
			"minCount": 3, "maxCount": 6, "enableAutoScaling": true, "provisioningState": "Failed",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	taken, err := json.Marshal(snapshot{
		Definition: definition, ScaleSets: []string{"aks-system-11112222-vmss"},
		PoolNodes: []kube.Node{{Name: "aks-system-11112222-vmss000000", UID: "u1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]json.RawMessage{snapshotNote: taken}
}

// TestRecordIsNoAuthority: a snapshot of something else is a question, for whoever
// recalls it, before it is used.
func TestRecordIsNoAuthority(t *testing.T) {
	change := func(old, replacement string) func(map[string]json.RawMessage) {
		return func(notes map[string]json.RawMessage) {
			was := string(notes[snapshotNote])
			if !strings.Contains(was, old) {
				t.Fatalf("%s is not in %s", old, was)
			}
			notes[snapshotNote] = json.RawMessage(strings.ReplaceAll(was, old, replacement))
		}
	}
	for name, row := range map[string]struct {
		forge func(map[string]json.RawMessage)
		wrong bool
	}{
		"as it was written":         {forge: func(map[string]json.RawMessage) {}},
		"another pool":              {change("agentPools/system", "agentPools/workers"), true},
		"another pool's name":       {change(`"name":"system"`, `"name":"workers"`), true},
		"another cluster":           {change("managedClusters/aks-1", "managedClusters/aks-2"), true},
		"another subscription":      {change(subscription, "5a1e0000-0000-4000-8000-00000000000f"), true},
		"no ETag":                   {change(`"eTag":"e1"`, `"eTag":""`), true},
		"a negative count":          {change(`"count":3`, `"count":-1`), true},
		"more nodes than AKS gives": {change(`"maxCount":6`, `"maxCount":100000`), true},
		"no scale set":              {change(`["aks-system-11112222-vmss"]`, `[]`), true},
		"no network":                {change(`/subnets/nodes`, ``), true},
	} {
		t.Run(name, func(t *testing.T) {
			notes := goodRecord(t)
			row.forge(notes)
			run := recordedRun{notes: notes}
			r := recreationOf(t, run, azure.Cluster{})
			if _, err := r.readTaken(t.Context(), run); (err != nil) != row.wrong {
				t.Fatalf("got %v", err)
			}
			if !row.wrong {
				return
			}
			for _, guard := range append(r.runbook().Checks, r.deletePool().Preconditions...) {
				finding := guard.Evaluate(t.Context(), run)
				expectFinding(t, finding, needsAttention)
				if !strings.Contains(finding.Reason, "Who wrote run run-1?") || !finding.Locked {
					t.Errorf("%s asks nothing: %s", guard.Name, finding.Reason)
				}
			}
			for _, step := range append(r.runbook().Steps, *r.drain().Rollback, r.clearLeftovers()) {
				seen := step.Observe(t.Context(), run)
				if seen.State != runbook.StateUndecidable || !strings.Contains(seen.Question, "Who wrote run run-1?") {
					t.Errorf("%s: %s %s", step.Name, seen.State, seen.Question)
				}
			}
		})
	}
}

// TestSnapshotIsReadBack: one that the journal does not give back, or gives back
// otherwise, is no basis for a deletion.
func TestSnapshotIsReadBack(t *testing.T) {
	good := goodRecord(t)
	other := maps.Clone(good)
	other[snapshotNote] = json.RawMessage(strings.ReplaceAll(string(good[snapshotNote]), `"u1"`, `"u2"`))
	for name, row := range map[string]struct {
		back map[string]json.RawMessage
		ok   bool
	}{
		"as it was written":   {good, true},
		"it is not there":     {nil, false},
		"it differs a little": {other, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := recordedRun{notes: good, back: row.back}
			seen, err := recreationOf(t, run, azure.Cluster{}).readTaken(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			if err := seen.taken.readBack(t.Context(), run); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestTimesOfTheRecordAreChecked: a window that can't be is not searched.
func TestTimesOfTheRecordAreChecked(t *testing.T) {
	for name, row := range map[string]struct {
		start time.Duration
		ok    bool
	}{
		"an hour ago": {-time.Hour, true}, "in the future": {time.Hour, false},
		"before the log begins": {-91 * 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			seen := readingOfPools()
			seen.windowStart = at().Add(row.start)
			r := &recreation{Inputs: inputs()}
			if start, err := r.window(t.Context(), recordedRun{}, seen); (err == nil) != row.ok || start != seen.windowStart {
				t.Errorf("got %v, %v", start, err)
			}
		})
	}
}

// TestRetiringNeedsDeletionAndRecreationInTheRecord, whatever else the record says.
func TestRetiringNeedsDeletionAndRecreationInTheRecord(t *testing.T) {
	there := []azure.Pool{{Name: "system", State: "Succeeded"}}
	for name, row := range map[string]struct {
		pools  []azure.Pool
		record record
		want   expected
	}{
		"both are in it, and the pool is there": {there, record{Deleted: true, Recreated: true}, holds},
		"the pool is absent":                    {nil, record{Deleted: true, Recreated: true}, needsAttention},
		"no deletion":                           {there, record{Recreated: true}, needsAttention},
		"no recreation":                         {there, record{Deleted: true}, needsAttention},
		"neither":                               {there, record{}, needsAttention},
	} {
		t.Run(name, func(t *testing.T) {
			seen := readingOfPools(row.pools...)
			seen.record = row.record
			expectFinding(t, recreatedByUs(seen), row.want)
		})
	}
}

// TestDeletionNeedsItsIntent: a note alone does not make the pool's absence ours, and
// a step's outcome alone does not make its presence ours.
func TestDeletionNeedsItsIntent(t *testing.T) {
	notes := goodRecord(t)
	notes[deletingNote] = json.RawMessage("true")
	for name, row := range map[string]struct {
		done               []string
		deleted, recreated bool
	}{
		"never announced":       {nil, false, false},
		"deleted":               {[]string{"delete-pool"}, true, false},
		"deleted and recreated": {[]string{"delete-pool", "recreate"}, true, true},
		"recreated alone":       {[]string{"recreate"}, false, false},
	} {
		run := recordedRun{notes: notes, done: map[string]bool{}}
		for _, step := range row.done {
			run.done[step] = true
		}
		seen, err := recreationOf(t, run, azure.Cluster{}).recall(run)
		if seen.Deleted != row.deleted || seen.Recreated != row.recreated || err != nil {
			t.Errorf("%s: %v, %v, %v", name, seen.Deleted, seen.Recreated, err)
		}
	}
}

// TestDeletionWithoutSnapshotIsAContradiction: nothing could be made again.
func TestDeletionWithoutSnapshotIsAContradiction(t *testing.T) {
	run := recordedRun{
		notes: map[string]json.RawMessage{deletingNote: json.RawMessage("true")}, done: map[string]bool{"delete-pool": true},
	}
	r := recreationOf(t, run, azure.Cluster{State: "Failed"})
	for _, guard := range r.runbook().Checks {
		expectFinding(t, guard.Evaluate(t.Context(), run), needsAttention)
	}
}
