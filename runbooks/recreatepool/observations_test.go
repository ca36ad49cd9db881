package recreatepool

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

// definitionIn is a pool's definition as ARM answers it; nil for no state.
func definitionIn(t *testing.T, state string) azure.Definition {
	t.Helper()
	if state == "" {
		return nil
	}
	raw, err := json.Marshal(map[string]any{"name": "p", "properties": map[string]any{
		"provisioningState": state, "eTag": "e1", "count": 2,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// observed is how far a step should be seen to be, a part of the reason and, where there is one, of the question.
type observed struct {
	state            runbook.State
	reason, question string
}

func expectObservation(t *testing.T, got runbook.Observation, want observed) {
	t.Helper()
	if got.State != want.state || !strings.Contains(got.Reason, want.reason) ||
		!strings.Contains(got.Question, want.question) || (got.Question == "") != (want.question == "") {
		t.Errorf("%s (%s), question %q; want %s (%s), question %q", got.State, got.Reason, got.Question, want.state,
			want.reason, want.question)
	}
}

const (
	notStarted  = runbook.StateNotStarted
	inFlight    = runbook.StateInFlight
	done        = runbook.StateDone
	undecidable = runbook.StateUndecidable
)

// TestStatesOfStandInsCreation: a stand-in that failed is made again only when nothing knows why it failed, and one
// that somebody deletes is a question.
func TestStatesOfStandInsCreation(t *testing.T) {
	for _, row := range []struct {
		state string
		token bool
		want  observed
	}{
		{"", false, observed{notStarted, "pool s1 not found", ""}},
		{"", true, observed{notStarted, "pool s1 not found", ""}},
		{"Deleting", false, observed{undecidable, "somebody is deleting the stand-in", `Who is deleting pool "s1"`}},
		{"Deleting", true, observed{undecidable, "somebody is deleting the stand-in", `Who is deleting pool "s1"`}},
		{"Failed", false, observed{notStarted, "is Failed", ""}},
		{"Canceled", false, observed{notStarted, "is Canceled", ""}},
		{"Failed", true, observed{inFlight, "its operation knows why", ""}},
		{"Canceled", true, observed{inFlight, "its operation knows why", ""}},
		{"Creating", false, observed{inFlight, "the stand-in is Creating", ""}},
		{"Succeeded", true, observed{inFlight, "the stand-in is Succeeded", ""}},
	} {
		t.Run("state "+row.state, func(t *testing.T) {
			seen := standInPool{reading: readingOfPools(), Name: "s1", Definition: definitionIn(t, row.state)}
			if row.token {
				seen.operation = &azure.Token{}
			}
			expectObservation(t, standInAdded(seen), row.want)
		})
	}
}

func TestStatesOfStandInsRemoval(t *testing.T) {
	for name, row := range map[string]struct {
		pool, state string
		want        observed
	}{
		"there never was one":  {"", "", observed{done, "there is no such stand-in", ""}},
		"it is gone":           {"s1", "", observed{done, "pool s1 is gone", ""}},
		"it is being deleted":  {"s1", "Deleting", observed{inFlight, "pool s1 is being deleted", ""}},
		"it is there":          {"s1", "Succeeded", observed{notStarted, "pool s1 is Succeeded", ""}},
		"it is there, Failed":  {"s1", "Failed", observed{notStarted, "pool s1 is Failed", ""}},
		"it is still Creating": {"s1", "Creating", observed{notStarted, "pool s1 is Creating", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := standInPool{reading: readingOfPools(), Name: row.pool, Definition: definitionIn(t, row.state)}
			expectObservation(t, removed(seen), row.want)
		})
	}
}

// TestStatesOfDeletion: the pool's absence is this run's doing only with its intent, and a pool on a new scale set was
// made by somebody.
func TestStatesOfDeletion(t *testing.T) {
	for name, row := range map[string]struct {
		state   string
		deleted bool
		newSets []string
		want    observed
	}{
		"we deleted it": {"", true, nil, observed{done, "pool system is gone", ""}},
		"somebody deleted it": {"", false, nil,
			observed{undecidable, "somebody else deleted", `Who deleted pool "system"?`}},
		"it is being deleted":     {"Deleting", true, nil, observed{inFlight, "is being deleted", ""}},
		"being deleted by others": {"Deleting", false, nil, observed{inFlight, "is being deleted", ""}},
		"somebody made it anew": {"Succeeded", true, []string{"set-2", "set-3"},
			observed{undecidable, "has another scale set, set-2, set-3", "abandon this run and remove the stand-in"}},
		"it is there":                 {"Failed", false, nil, observed{notStarted, "pool system is Failed", ""}},
		"it is there after an intent": {"Failed", true, nil, observed{notStarted, "pool system is Failed", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := deletion{comparison{reading: readingOfPools(), Current: definitionIn(t, row.state)}, row.newSets}
			seen.Deleted = row.deleted
			expectObservation(t, deleted(seen), row.want)
		})
	}
}

// TestStatesOfRecreation: only a pool that is absent, or failed as the snapshot says, is created; one that differs is
// never written over.
func TestStatesOfRecreation(t *testing.T) {
	differs := []string{"vmSize: B, not A"}
	another := observed{undecidable, "vmSize: B", "Who is changing"}
	for name, row := range map[string]struct {
		state     string
		different []string
		token     bool
		want      observed
	}{
		"it is absent":                   {"", nil, false, observed{notStarted, "pool system not found", ""}},
		"somebody made another":          {"Succeeded", differs, false, another},
		"another, and an operation":      {"Succeeded", differs, true, another},
		"another one failed":             {"Failed", differs, false, another},
		"somebody deletes it":            {"Deleting", nil, false, observed{undecidable, "is Deleting", "Who is changing"}},
		"it failed":                      {"Failed", nil, false, observed{notStarted, "pool system is Failed", ""}},
		"it was canceled":                {"Canceled", nil, false, observed{notStarted, "pool system is Canceled", ""}},
		"it failed, its operation knows": {"Failed", nil, true, observed{inFlight, "its operation knows more", ""}},
		"it is being created":            {"Creating", nil, false, observed{inFlight, "pool system is Creating", ""}},
		"it is there":                    {"Succeeded", nil, false, observed{inFlight, "pool system is Succeeded", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := comparison{readingOfPools(), definitionIn(t, row.state), row.different}
			if row.token {
				seen.operation = &azure.Token{}
			}
			expectObservation(t, recreated(seen), row.want)
		})
	}
}

func TestStatesOfAbort(t *testing.T) {
	for name, row := range map[string]struct {
		state string
		sent  time.Duration // ago; none for 0
		want  observed
	}{
		"no operation runs":      {"Failed", 0, observed{done, "no operation is running", ""}},
		"it has ended":           {"Canceled", time.Minute, observed{done, "no operation is running", ""}},
		"none was sent":          {"Updating", 0, observed{notStarted, "the cluster is Updating", ""}},
		"it was sent just now":   {"Updating", time.Minute, observed{inFlight, "less than 3m0s ago", ""}},
		"it should have shown":   {"Updating", 3 * time.Minute, observed{notStarted, "the cluster is Updating", ""}},
		"another one began then": {"Upgrading", time.Hour, observed{notStarted, "the cluster is Upgrading", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := readingOf(azure.Cluster{State: row.state})
			if row.sent > 0 {
				seen.aborted = seen.Now.Add(-row.sent)
			}
			expectObservation(t, settled(seen), row.want)
		})
	}
}

func TestStatesOfReconciliation(t *testing.T) {
	for state, want := range map[string]observed{
		"Succeeded": {done, "the cluster is Succeeded", ""}, "Updating": {inFlight, "the cluster is Updating", ""},
		"Upgrading": {inFlight, "the cluster is Upgrading", ""}, "Canceling": {inFlight, "the cluster is Canceling", ""},
		"Failed": {notStarted, "the cluster is Failed", ""}, "Canceled": {notStarted, "the cluster is Canceled", ""},
		"": {notStarted, "the cluster is without a state", ""},
	} {
		t.Run("state "+state, func(t *testing.T) {
			expectObservation(t, reconciled(readingOf(azure.Cluster{State: state})), want)
		})
	}
}

func TestSnapshotIsTakenOnce(t *testing.T) {
	seen := readingOfPools()
	expectObservation(t, snapshotTaken(seen), observed{notStarted, "holds no snapshot", ""})
	seen.taken = &snapshot{}
	expectObservation(t, snapshotTaken(seen), observed{done, "holds the snapshot", ""})
}

// TestStatesOfDrain: a node that is left, or a pod, is a drain that is not done; a cordon of somebody else's is not
// taken back.
func TestStatesOfDrain(t *testing.T) {
	open, theirs := kube.Node{Name: "a"}, kube.Node{Name: "b", Unschedulable: true}
	ours := kube.Node{Name: "c", Unschedulable: true, CordonedBy: "run-1"}
	for name, row := range map[string]struct {
		nodes      []kube.Node
		pods       []string
		down, back observed
	}{
		"one is not cordoned": {[]kube.Node{ours, open}, nil, observed{notStarted, "node a is not cordoned", ""},
			observed{notStarted, "node c is cordoned by this run", ""}},
		"pods are left": {[]kube.Node{ours, theirs}, []string{"x/y"}, observed{notStarted, "1 pods are left", ""},
			observed{notStarted, "node c is cordoned by this run", ""}},
		"empty": {[]kube.Node{theirs}, nil, observed{done, "all 1 nodes are cordoned and empty", ""},
			observed{done, "no node is cordoned by this run", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := withNodes{reading: readingOfPools(), Nodes: row.nodes}
			expectObservation(t, drained(draining{seen, row.pods}), row.down)
			expectObservation(t, uncordoned(seen), row.back)
		})
	}
}
