package graph_test

import (
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
