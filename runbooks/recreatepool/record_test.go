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
		Definition: definition, ETag: "e1", ScaleSets: []string{"aks-system-11112222-vmss"},
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
		"another ETag":              {change(`"etag":"e1"`, `"etag":"e2"`), true},
		"a negative count":          {change(`"count":3`, `"count":-1`), true},
		"more nodes than AKS gives": {change(`"maxCount":6`, `"maxCount":100000`), true},
		"no scale set":              {change(`["aks-system-11112222-vmss"]`, `[]`), true},
		"no network":                {change(`/subnets/nodes`, ``), true},
	} {
		t.Run(name, func(t *testing.T) {
			notes := goodRecord(t)
			row.forge(notes)
			rd := &reader{recreation: &recreation{Inputs: inputs()}, ctx: t.Context(), run: recordedRun{notes: notes}}
			rd.snapshot()
			if (rd.err != nil) != row.wrong {
				t.Fatalf("got %v", rd.err)
			}
			if !row.wrong {
				return
			}
			r := &recreation{Inputs: inputs(), World: World{Clock: clock.RealClock{}}}
			for _, guard := range []runbook.Guard{r.snapshotKept(), r.standInReady(), r.nodesReady(), r.poolMatchesSnapshot(), r.nodesAsFound()} {
				r.seen, r.kept = runbook.Shared[armReading]{}, runbook.Shared[kept]{}
				finding := guard.Evaluate(t.Context(), recordedRun{notes: notes})
				expectFinding(t, finding, runbook.AnswerDoesNotHold, runbook.NeedsAttention)
				if !strings.Contains(finding.Reason, "Who wrote run run-1?") || !finding.Locked {
					t.Errorf("%s asks nothing: %s", guard.Name, finding.Reason)
				}
			}
			for _, step := range []runbook.Step{r.addStandIn(), r.drain(), r.retireStandIn(), *r.uncordon()} {
				seen := step.Observe(t.Context(), recordedRun{notes: notes})
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
			rd := &reader{
				recreation: &recreation{Inputs: inputs(), World: World{Clock: clock.RealClock{}}}, ctx: t.Context(),
				run: recordedRun{notes: good, back: row.back},
			}
			if rd.verify(rd.snapshot()); (rd.err == nil) != row.ok {
				t.Errorf("got %v", rd.err)
			}
			if row.ok {
				return
			}
			finding := rd.snapshotKept().Evaluate(t.Context(), rd.run) // which asks ARM for nothing
			expectFinding(t, finding, runbook.AnswerUnknown, "")
		})
	}
}

// TestTimesOfTheRecordAreChecked: a window that can't be is not searched.
func TestTimesOfTheRecordAreChecked(t *testing.T) {
	for name, row := range map[string]struct {
		start time.Duration
		ok    bool
	}{
		"an hour ago": {-time.Hour, true}, "in the future": {time.Hour, false}, "before the log begins": {-91 * 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(time.Now().Add(row.start))
			if err != nil {
				t.Fatal(err)
			}
			rd := &reader{
				recreation: &recreation{Inputs: inputs(), World: World{Clock: clock.RealClock{}}}, ctx: t.Context(),
				run: recordedRun{notes: map[string]json.RawMessage{windowNote: raw}},
			}
			if rd.windowStart(); (rd.err == nil) != row.ok {
				t.Errorf("got %v", rd.err)
			}
		})
	}
}

// TestRetiringNeedsDeletionAndRecreationInTheRecord, whatever else the record says.
func TestRetiringNeedsDeletionAndRecreationInTheRecord(t *testing.T) {
	there := azure.Cluster{Pools: []azure.Pool{{Name: "system", State: "Succeeded"}}}
	for name, row := range map[string]struct {
		seen   exchange
		answer runbook.Answer
	}{
		"both are in it, and the pool is there": {exchange{there, "system", true, true}, runbook.AnswerHolds},
		"the pool is absent":                    {exchange{azure.Cluster{}, "system", true, true}, runbook.AnswerDoesNotHold},
		"no deletion":                           {exchange{there, "system", false, true}, runbook.AnswerDoesNotHold},
		"no recreation":                         {exchange{there, "system", true, false}, runbook.AnswerDoesNotHold},
		"neither":                               {exchange{there, "system", false, false}, runbook.AnswerDoesNotHold},
	} {
		t.Run(name, func(t *testing.T) {
			want := runbook.Outcome("")
			if row.answer == runbook.AnswerDoesNotHold {
				want = runbook.NeedsAttention
			}
			expectFinding(t, recreatedByUs(row.seen), row.answer, want)
		})
	}
}

// TestDeletionNeedsItsIntent: a note alone does not make the pool's absence ours.
func TestDeletionNeedsItsIntent(t *testing.T) {
	notes := goodRecord(t)
	notes[deletingNote] = json.RawMessage("true")
	for name, row := range map[string]struct {
		done map[string]bool
		want bool
	}{
		"announced": {map[string]bool{"delete-pool": true}, true}, "never announced": {nil, false},
	} {
		rd := &reader{
			recreation: &recreation{Inputs: inputs()}, ctx: t.Context(), run: recordedRun{notes: notes, done: row.done},
		}
		if got := rd.deletedByUs(); got != row.want || rd.err != nil {
			t.Errorf("%s: %v, %v", name, got, rd.err)
		}
	}
}

func TestStandInIsAbandonedWhenItsRunIsNotOpen(t *testing.T) {
	for name, row := range map[string]struct {
		madeBy, open string
		want         bool
	}{
		"nothing is open":           {"run-0", "", true},
		"this run is open":          {"run-0", "run-1", true},
		"its run is open":           {"run-0", "run-0", false},
		"another run is open":       {"run-0", "run-7", false},
		"it is this run's stand-in": {"run-1", "", false},
	} {
		if got := standInAbandoned(row.madeBy, "run-1", row.open); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
