package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/pipeline/graph"
)

// of makes a graph of nodes a, b, c… from edges such as "ab": a before b.
func of(count int, edges ...string) *graph.Graph {
	nodes := make([]graph.Node, count)
	for i := range nodes {
		nodes[i] = graph.Node{Group: "g", Name: string(rune('a' + i)), Action: "Shell"}
	}
	var made []graph.Edge
	for _, edge := range edges {
		made = append(made, graph.Edge{Before: int(edge[0] - 'a'), After: int(edge[1] - 'a')})
	}
	return graph.New(nodes, made)
}

func letters(path []int) string {
	text := ""
	for _, i := range path {
		text += string(rune('a' + i))
	}
	return text
}

func TestRings(t *testing.T) {
	for rule, test := range map[string]struct {
		graph *graph.Graph
		want  []string
	}{
		"no cycle in a diamond":             {of(4, "ab", "ac", "bd", "cd"), nil},
		"a node that waits for itself":      {of(2, "ab", "bb"), []string{"b"}},
		"each waits for the next":           {of(3, "ba", "cb", "ac"), []string{"abc"}},
		"one cycle for each component":      {of(5, "ab", "ba", "cd", "dc", "ae"), []string{"ab", "cd"}},
		"the shortest through the first":    {of(4, "ba", "cb", "ac", "db", "ad", "ab"), []string{"ab"}},
		"what waits for a cycle is in none": {of(3, "ab", "ba", "bc"), []string{"ab"}},
	} {
		t.Run(rule, func(t *testing.T) {
			var got []string
			for _, cycle := range test.graph.Cycles() {
				got = append(got, letters(cycle))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOrderAndWaves(t *testing.T) {
	g := of(6, "ab", "ac", "bd", "cd", "ed")
	if got := letters(g.Order()); got != "aefbcd" {
		t.Errorf("order %s", got)
	}
	if diff := cmp.Diff([][]int{{0, 4, 5}, {1, 2}, {3}}, g.Waves()); diff != "" {
		t.Error(diff)
	}
	if got := letters(of(4, "ab", "ba", "bc").Order()); got != "d" {
		t.Errorf("what waits for a cycle is in the order: %s", got)
	}
}

func TestCritical(t *testing.T) {
	g := of(5, "ab", "bd", "cd", "de")
	for rule, test := range map[string]struct {
		took []time.Duration
		want string
	}{
		"the longest in time":                        {[]time.Duration{1, 1, 5, 1, 1}, "cde"},
		"the longest in nodes where times are equal": {[]time.Duration{1, 1, 2, 1, 1}, "abde"},
		"the longest in nodes where there are none":  {make([]time.Duration, 5), "abde"},
	} {
		t.Run(rule, func(t *testing.T) {
			if got := letters(g.Critical(test.took)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestReduced(t *testing.T) {
	g := of(4, "ab", "bc", "ac", "cd", "ad", "bd").Reduced()
	for i, want := range [][]int{nil, {0}, {1}, {2}} {
		if diff := cmp.Diff(want, g.Dependencies(i)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestKeptEdgesAreShown although they follow from others, and stay kept.
func TestKeptEdgesAreShown(t *testing.T) {
	g := of(4, "ab", "bc", "ad").Keep([]graph.Edge{{Before: 0, After: 2}}).Reduced().Reduced()
	for i, want := range [][]int{nil, {0}, {0, 1}, {0}} {
		if diff := cmp.Diff(want, g.Dependencies(i)); diff != "" {
			t.Error(diff)
		}
	}
	var drawn strings.Builder
	err := graph.DOT(&drawn, graph.Picture{Graph: g})
	if err != nil || strings.Count(drawn.String(), "style=dashed") != 1 {
		t.Errorf("%v: %s", err, &drawn)
	}
}

// TestVirtualNodesAreNotCounted: neither in waves, nor in paths, nor in words.
func TestVirtualNodesAreNotCounted(t *testing.T) {
	nodes := []graph.Node{{Name: "a"}, {Service: "S", Virtual: true}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	g := graph.New(nodes, []graph.Edge{{Before: 0, After: 1}, {Before: 1, After: 2}, {Before: 3, After: 4}})
	if diff := cmp.Diff([][]int{{0, 3}, {2, 4}}, g.Waves()); diff != "" {
		t.Error(diff)
	}
	longer := graph.New(nodes, []graph.Edge{
		{Before: 0, After: 1}, {Before: 1, After: 2}, {Before: 3, After: 4}, {Before: 4, After: 2},
	})
	if diff := cmp.Diff([]int{3, 4, 2}, longer.Critical(make([]time.Duration, 5))); diff != "" {
		t.Error(diff)
	}
	var drawn strings.Builder
	if err := graph.Text(&drawn, graph.Picture{Graph: longer, Measure: "by number of steps"}, 80); err != nil ||
		!strings.HasPrefix(drawn.String(), "4 steps; critical path by number of steps: 3 steps\n") ||
		!strings.Contains(drawn.String(), "after S, d\n") {
		t.Errorf("%v: %s", err, &drawn)
	}
}
