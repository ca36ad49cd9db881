package graph

import "slices"

// Cycles gives one cycle of nodes that wait for each other for each component of them: a
// shortest one through the component's first node. In a cycle each node waits for the
// next, and the last for the first.
func (g *Graph) Cycles() [][]int {
	var cycles [][]int
	for _, component := range g.components() {
		if len(component) > 1 || slices.Contains(g.waits[component[0]], component[0]) {
			cycles = append(cycles, g.cycle(component))
		}
	}
	slices.SortFunc(cycles, func(a, b []int) int { return a[0] - b[0] })
	return cycles
}

// cycle is a shortest way from a component's first node back to it.
func (g *Graph) cycle(component []int) []int {
	start := slices.Min(component)
	inside := make(map[int]bool, len(component))
	for _, i := range component {
		inside[i] = true
	}
	came := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.waits[queue[0]] {
			if next == start {
				var cycle []int
				for i := queue[0]; i != start; i = came[i] {
					cycle = append(cycle, i)
				}
				cycle = append(cycle, start)
				slices.Reverse(cycle)
				return cycle
			}
			if _, seen := came[next]; !seen && inside[next] {
				came[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil // a component has a way back from each of its nodes
}

// components are the strongly connected parts of the graph, by Tarjan's algorithm, with
// a stack of its own instead of recursion: a file can chain a great many steps.
func (g *Graph) components() [][]int {
	const unseen = -1
	index, low, onStack := make([]int, len(g.nodes)), make([]int, len(g.nodes)), make([]bool, len(g.nodes))
	for i := range index {
		index[i] = unseen
	}
	type visit struct{ node, next int }
	var components [][]int
	var stack []int
	seen := 0
	enter := func(i int) visit {
		index[i], low[i], onStack[i] = seen, seen, true
		seen++
		stack = append(stack, i)
		return visit{node: i}
	}
	for root := range g.nodes {
		if index[root] != unseen {
			continue
		}
		for visits := []visit{enter(root)}; len(visits) > 0; {
			at := &visits[len(visits)-1]
			if at.next < len(g.waits[at.node]) {
				next := g.waits[at.node][at.next]
				at.next++
				if index[next] == unseen {
					visits = append(visits, enter(next))
				} else if onStack[next] {
					low[at.node] = min(low[at.node], index[next])
				}
				continue
			}
			done := at.node
			if visits = visits[:len(visits)-1]; len(visits) > 0 {
				above := visits[len(visits)-1].node
				low[above] = min(low[above], low[done])
			}
			if low[done] == index[done] {
				first := len(stack) - 1
				for stack[first] != done {
					first--
				}
				components = append(components, slices.Clone(stack[first:]))
				for _, i := range stack[first:] {
					onStack[i] = false
				}
				stack = stack[:first]
			}
		}
	}
	return components
}
