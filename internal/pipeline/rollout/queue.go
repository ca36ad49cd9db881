package rollout

import (
	"container/heap"
	"slices"

	"salve/internal/pipeline/graph"
)

// queue holds the steps that can be begun. Those come first that most others wait
// for, one after the other: the longest chain decides how long all takes.
type queue struct {
	graph *graph.Graph
	// chain is how many steps the longest chain has that begins with a step.
	chain []int
	// missing is how many steps a step still waits for.
	missing []int
	over    []bool
	ready   []int
	// queued are the steps in ready.
	queued []bool
}

func newQueue(g *graph.Graph) *queue {
	q := &queue{graph: g, chain: make([]int, g.Len()), missing: make([]int, g.Len()), over: make([]bool, g.Len()), queued: make([]bool, g.Len())}
	for _, i := range slices.Backward(g.Order()) {
		q.chain[i] = 1
		for _, after := range g.Leads(i) {
			q.chain[i] = max(q.chain[i], q.chain[after]+1)
		}
	}
	for i := range g.Len() {
		if q.missing[i] = len(g.Dependencies(i)); q.missing[i] == 0 {
			q.push(i)
		}
	}
	return q
}

// done frees the steps that waited for this one only.
func (q *queue) done(i int) {
	if q.over[i] {
		return
	}
	q.over[i] = true
	if q.queued[i] {
		q.remove(i)
	}
	for _, after := range q.graph.Leads(i) {
		if q.missing[after]--; q.missing[after] == 0 && !q.over[after] {
			q.push(after)
		}
	}
}

// undone puts a step back that was done.
func (q *queue) undone(i int) {
	if !q.over[i] {
		return
	}
	q.over[i] = false
	for _, after := range q.graph.Leads(i) {
		if q.missing[after]++; q.queued[after] {
			q.remove(after)
		}
	}
	if q.missing[i] == 0 {
		q.push(i)
	}
}

func (q *queue) finished(i int) bool { return q.over[i] }

func (q *queue) empty() bool { return len(q.ready) == 0 }

func (q *queue) first() int { return q.ready[0] }

func (q *queue) push(i int) {
	q.queued[i] = true
	heap.Push((*byChain)(q), i)
}

func (q *queue) pop() int {
	i := heap.Pop((*byChain)(q)).(int)
	q.queued[i] = false
	return i
}

func (q *queue) remove(i int) {
	heap.Remove((*byChain)(q), slices.Index(q.ready, i))
	q.queued[i] = false
}

// byChain is the queue as the standard library's heap.
type byChain queue

func (h *byChain) Len() int { return len(h.ready) }
func (h *byChain) Less(a, b int) bool {
	one, other := h.ready[a], h.ready[b]
	if h.chain[one] != h.chain[other] {
		return h.chain[one] > h.chain[other]
	}
	return one < other
}
func (h *byChain) Swap(a, b int) { h.ready[a], h.ready[b] = h.ready[b], h.ready[a] }
func (h *byChain) Push(i any)    { h.ready = append(h.ready, i.(int)) }
func (h *byChain) Pop() any {
	last := h.ready[len(h.ready)-1]
	h.ready = h.ready[:len(h.ready)-1]
	return last
}
