package graph

import (
	"slices"
	"strings"
	"time"
)

// Node is a step, or a service group, as far as pictures show it.
type Node struct {
	// Service is the service group of the step; empty where all nodes are of one.
	Service string
	// Group and Name are those of a step. A service group has its name alone.
	Group, Name string
	// Action is what kind of step it is.
	Action string
	// Aside: the step is not one of the rollout itself, such as a validation step.
	Aside bool
	// Virtual: it is nothing that is run here, but something that is waited for, such as a step of another service group.
	// It is not counted.
	Virtual bool
}

// String is the node as messages name it.
func (n Node) String() string {
	name := n.Name
	if n.Group != "" {
		name = n.Group + "/" + name
	}
	return strings.TrimSpace(n.Service + " " + name)
}

// Edge says that one node, by its index, must be done before another begins.
type Edge struct{ Before, After int }

// Graph is nodes and what they wait for.
type Graph struct {
	nodes []Node
	// waits and leads are, for each node, those before it and those after it:
	// sorted, each once.
	waits, leads [][]int
	// kept are edges that are shown although they may follow from others.
	kept map[Edge]bool
}

// New makes a graph. Edges name nodes that there are; an edge may be given twice.
func New(nodes []Node, edges []Edge) *Graph {
	g := &Graph{nodes: nodes, waits: make([][]int, len(nodes)), leads: make([][]int, len(nodes))}
	for _, edge := range edges {
		g.waits[edge.After] = append(g.waits[edge.After], edge.Before)
		g.leads[edge.Before] = append(g.leads[edge.Before], edge.After)
	}
	for i := range nodes {
		g.waits[i] = sortedOnce(g.waits[i])
		g.leads[i] = sortedOnce(g.leads[i])
	}
	return g
}

// Edges are all edges.
func (g *Graph) Edges() []Edge {
	var all []Edge
	for i := range g.nodes {
		for _, before := range g.waits[i] {
			all = append(all, Edge{before, i})
		}
	}
	return all
}

// Keep is a graph with edges besides, which are shown although they may follow from others, and not like them: those
// between service groups.
func (g *Graph) Keep(edges []Edge) *Graph {
	kept := map[Edge]bool{}
	for _, edge := range edges {
		kept[edge] = true
	}
	made := New(g.nodes, slices.Concat(edges, g.Edges()))
	made.kept = kept
	return made
}

func sortedOnce(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

// Len is how many nodes there are; they are known by their index.
func (g *Graph) Len() int { return len(g.nodes) }

// Node is the node of an index.
func (g *Graph) Node(i int) Node { return g.nodes[i] }

// Dependencies are the nodes that must be done before a node begins. Not to be changed.
func (g *Graph) Dependencies(i int) []int { return g.waits[i] }

// Leads are the nodes that wait for a node. Not to be changed.
func (g *Graph) Leads(i int) []int { return g.leads[i] }

// Order gives the nodes so that each comes after all that it waits for, and those
// that could begin at the same time in the order in which they were given. Nodes
// in a cycle, and those that wait for one, are left out.
func (g *Graph) Order() []int {
	missing := make([]int, len(g.nodes))
	var order []int
	for i := range g.nodes {
		if missing[i] = len(g.waits[i]); missing[i] == 0 {
			order = append(order, i)
		}
	}
	for next := 0; next < len(order); next++ {
		for _, after := range g.leads[order[next]] {
			if missing[after]--; missing[after] == 0 {
				order = append(order, after)
			}
		}
	}
	return order
}

// Waves are the nodes by the earliest time at which they could begin, if each took
// as long as any other. Virtual nodes take none, and are left out. The graph has no cycle.
func (g *Graph) Waves() [][]int {
	wave := make([]int, len(g.nodes))
	last := -1
	for _, i := range g.Order() {
		for _, before := range g.waits[i] {
			wave[i] = max(wave[i], wave[before]+g.counted(before))
		}
		if !g.nodes[i].Virtual {
			last = max(last, wave[i])
		}
	}
	waves := make([][]int, last+1)
	for i := range g.nodes {
		if !g.nodes[i].Virtual {
			waves[wave[i]] = append(waves[wave[i]], i)
		}
	}
	return waves
}

// counted is how many nodes one is.
func (g *Graph) counted(i int) int {
	if g.nodes[i].Virtual {
		return 0
	}
	return 1
}

// count is how many nodes of a list are counted.
func (g *Graph) count(list []int) int {
	count := 0
	for _, i := range list {
		count += g.counted(i)
	}
	return count
}

// Critical is the path that takes longest: no rollout is faster, however much runs
// at once. Of two that are as long it is the one with more nodes. The graph has no
// cycle.
func (g *Graph) Critical(took []time.Duration) []int {
	type length struct {
		time  time.Duration
		nodes int
	}
	longer := func(a, b length) bool { return a.time > b.time || a.time == b.time && a.nodes > b.nodes }
	until, from, end := make([]length, len(g.nodes)), make([]int, len(g.nodes)), -1
	for _, i := range g.Order() {
		from[i] = -1
		for _, before := range g.waits[i] {
			if from[i] < 0 || longer(until[before], until[from[i]]) {
				from[i] = before
			}
		}
		if from[i] >= 0 {
			until[i] = until[from[i]]
		}
		until[i] = length{until[i].time + took[i], until[i].nodes + g.counted(i)}
		if end < 0 || longer(until[i], until[end]) {
			end = i
		}
	}
	var path []int
	for i := end; i >= 0; i = from[i] {
		path = append(path, i)
	}
	slices.Reverse(path)
	return path
}
