package azuresim_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/azuresim"
)

func TestEveryBuiltInScenarioLoadsStartsAndLivesAnHour(t *testing.T) {
	for _, name := range azuresim.Names() {
		t.Run(name, func(t *testing.T) {
			scenario := builtIn(t, name)
			if scenario.Name != name || scenario.Shows == "" || len(scenario.Inputs) == 0 {
				t.Fatalf("scenario %q shows %q with inputs %v", scenario.Name, scenario.Shows, scenario.Inputs)
			}
			inWorld(t, scenario, func(t *testing.T, a *azure) {
				time.Sleep(time.Hour)
				if state := a.world.Snapshot(); state.Cluster.Exists == scenario.ClusterAbsent {
					t.Fatalf("the cluster exists: %v", state.Cluster.Exists)
				}
			})
		})
	}
}

func TestTheAgreedScenariosAreThere(t *testing.T) {
	for _, name := range []string{
		"wedged", "healthy", "greenfield", "young-operation", "stuck-operation", "quota", "no-capacity", "throttled",
		"rbac-lag", "rbac-denied", "pdb-blocked", "pdb-forced", "pdb-wait", "lost-response", "node-never-joins",
		"stand-in-never-joins", "leftover",
		"leftover-healthy", "two-pools", "busy", "concurrent-writer", "recovers-by-itself",
	} {
		if !slices.Contains(azuresim.Names(), name) {
			t.Errorf("no scenario %s", name)
		}
	}
}

func TestAnUnknownScenarioIsAnsweredWithTheKnownOnes(t *testing.T) {
	_, err := azuresim.Load("nonsense")
	if err == nil || !strings.Contains(err.Error(), "wedged") {
		t.Fatalf("got %v, want an error that lists the scenarios", err)
	}
}

func TestAScenarioCanBeAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("shows: mine\nexpect: failed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	scenario, err := azuresim.Load(file)
	if err != nil || scenario.Name != "mine" || scenario.Expect != "failed" || len(scenario.Pools) != 2 {
		t.Fatalf("got %+v, %v", scenario, err)
	}
}

func TestBadScenariosAreRefusedWithTheirLine(t *testing.T) {
	const head = "shows: a test\nexpect: remediated\n"
	for name, row := range map[string]struct{ text, want string }{
		"empty":         {"", "bad.yaml: line 1: the scenario is empty"},
		"unknown field": {head + "colour: blue\n", `bad.yaml: line 3: unknown field "colour"`},
		"unknown field in pool": {head + "pools:\n  - name: system\n    nodes: 3\n",
			`bad.yaml: line 5: unknown field "nodes"`},
		"unknown kind of fault": {head + "faults:\n  - earthquake: {}\n", `bad.yaml: line 4: unknown field "earthquake"`},
		"bad duration": {head + "retryAfter: soon\n",
			`bad.yaml: line 3: "soon" is not a duration such as 90s or 2m30s`},
		"negative duration": {head + "retryAfter: -3s\n", "bad.yaml: line 3: duration -3s is negative"},
		"wrong type":        {head + "seed: many\n", "bad.yaml: line 3: cannot read str `many` into int64"},
		"unknown outcome":   {"shows: a test\nexpect: wonders\n", `bad.yaml: line 2: expect "wonders" is not one of`},
		"shows nothing":     {"expect: failed\n", "bad.yaml: line 1: shows must be one line"},
		"unknown state": {head + "pools:\n  - name: system\n    state: Sleepy\n",
			`bad.yaml: line 5: state "Sleepy" is not one of`},
		"bad pool name":       {head + "pools:\n  - name: System\n", `bad.yaml: line 4: pool name "System"`},
		"twice the same pool": {head + "pools:\n  - name: a\n  - name: a\n", "bad.yaml: line 5: two pools are named a"},
		"more ready than count": {head + "pools:\n  - name: a\n    count: 1\n    ready: 2\n",
			"bad.yaml: line 6: ready must be between 0 and count (1)"},
		"two kinds in a fault": {head + "faults:\n  - rbacLag: {for: 1m}\n    background: {at: 1m, for: 1m}\n",
			"bad.yaml: line 4: a fault has exactly one kind, this one has 2"},
		"no such pool": {head + "faults:\n  - recovers: {pool: other, at: 1m}\n",
			`bad.yaml: line 4: no pool is named "other"`},
		"resource without kind": {head + "resources:\n  - {type: N.S, name: a}\n",
			`bad.yaml: line 4: type "N.S" and name "a"`},
		"resource of a stranger": {head + "resources:\n  - {group: far, type: N.S/t, name: a}\n",
			`bad.yaml: line 4: no resource group is named "far"`},
		"a second cluster": {head + "resources:\n  - {type: microsoft.containerservice/managedclusters, name: a}\n",
			"bad.yaml: line 4: type"},
		"twice a resource": {head + "resources:\n  - {type: N.S/t, name: a}\n  - {type: n.s/T, name: A}\n",
			"bad.yaml: line 5: two resources"},
		"twice a resource group": {head + "resourceGroups: [a, A]\n",
			`bad.yaml: line 3: resource group "A" is not a name of its own`},
		"not YAML":      {head + "pools: [\n", "bad.yaml: line 3: did not find"},
		"two documents": {head + "---\n" + head, "bad.yaml: a scenario file holds one document"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := azuresim.Parse("bad.yaml", []byte(row.text))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestTheSameSeedMakesTheSameWorld(t *testing.T) {
	observe := func(seed int64) (state azuresim.State, events []string) {
		scenario := builtIn(t, "stuck-operation")
		synctest.Test(t, func(t *testing.T) {
			world, err := azuresim.New(scenario, azuresim.Options{Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			defer world.Close()
			a := newAzure(t, world, scenario)
			time.Sleep(10 * time.Minute)
			for _, event := range a.events(t, a.start.Add(-time.Hour)) {
				events = append(events, *event.EventDataID)
			}
			state = world.Snapshot()
		})
		return state, events
	}
	first, firstEvents := observe(7)
	second, secondEvents := observe(7)
	if difference := cmp.Diff(first, second) + cmp.Diff(firstEvents, secondEvents); difference != "" {
		t.Fatalf("two worlds of one seed differ:\n%s", difference)
	}
	other, otherEvents := observe(8)
	if other.Nodes[0].Name == first.Nodes[0].Name || otherEvents[0] == firstEvents[0] {
		t.Fatal("another seed made the same names")
	}
}
