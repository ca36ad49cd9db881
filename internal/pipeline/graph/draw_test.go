package graph

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// wild is a graph without cycles, made by chance.
func wild(seed uint64) *Graph {
	random := rand.New(rand.NewPCG(seed, 1))
	nodes := make([]Node, 1+random.IntN(40))
	var edges []Edge
	for i := range nodes {
		nodes[i] = Node{Group: "g", Name: fmt.Sprint(i)}
		for range min(i, random.IntN(4)) {
			edges = append(edges, Edge{random.IntN(i), i})
		}
	}
	return New(nodes, edges)
}

// TestDrawingsAreReadable: whatever the graph, edges lead to the right, no two boxes
// of a layer overlap, and nothing is above the drawing.
func TestDrawingsAreReadable(t *testing.T) {
	for seed := range uint64(200) {
		g := wild(seed)
		d := g.draw()
		d.placePoints()
		for i := range g.nodes {
			for _, before := range g.waits[i] {
				if d.nodes[before].layer >= d.nodes[i].layer {
					t.Fatalf("seed %d: %d is not to the right of %d", seed, i, before)
				}
				if way := d.ways[Edge{before, i}]; len(way) != d.nodes[i].layer-d.nodes[before].layer+1 {
					t.Fatalf("seed %d: the way from %d to %d leaves out a layer", seed, before, i)
				}
			}
		}
		for _, layer := range d.layers {
			for at, p := range layer {
				if top := p.y - p.height()/2; top < -0.01 || at > 0 && top < layer[at-1].y+layer[at-1].height()/2+boxGap-0.01 {
					t.Fatalf("seed %d: boxes overlap in layer %d", seed, p.layer)
				}
			}
		}
	}
}

// TestReducedMeansTheSame: whatever waited for something, directly or not, still
// does; and no edge is left that follows from others.
func TestReducedMeansTheSame(t *testing.T) {
	for seed := range uint64(50) {
		g := wild(seed)
		reduced := g.Reduced()
		for i := range g.nodes {
			if got, want := fmt.Sprint(len(reduced.all(i))), fmt.Sprint(len(g.all(i))); got != want {
				t.Fatalf("seed %d: %d waits for %s nodes, before for %s", seed, i, got, want)
			}
			for _, direct := range reduced.waits[i] {
				for _, other := range reduced.waits[i] {
					if other != direct && reduced.all(other)[direct] {
						t.Fatalf("seed %d: that %d waits for %d follows from %d", seed, i, direct, other)
					}
				}
			}
		}
	}
}

// all is everything that a node waits for.
func (g *Graph) all(i int) map[int]bool {
	found := map[int]bool{}
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		for _, before := range g.waits[queue[0]] {
			if !found[before] {
				found[before] = true
				queue = append(queue, before)
			}
		}
	}
	return found
}

func TestWhatNobodyCanRead(t *testing.T) {
	err := SVG(io.Discard, Picture{Graph: New(make([]Node, mostDrawn+1), nil)})
	var large *TooLargeError
	if !errors.As(err, &large) || large.Nodes != mostDrawn+1 {
		t.Errorf("got %v", err)
	}
}

func TestInversions(t *testing.T) {
	for want, list := range [][]int{{1, 2, 2, 3}, {1, 3, 2}, {2, 3, 1}, {3, 2, 1}} {
		if got := inversions(list); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	for length, want := range map[string]string{"90m": "1h30m", "1h": "1h", "45s": "45s", "12m30s": "12m30s", "0s": "0s",
		"10m": "10m", "10h": "10h", "1500ms": "2s"} {
		if got := Brief(duration(t, length)); got != want {
			t.Errorf("%s is written %s, want %s", length, got, want)
		}
	}
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return length
}
