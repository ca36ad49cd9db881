package engine

import (
	"container/heap"
	"slices"

	"salve/runbook"
)

// queue holds the steps that can begin. Those come first that most others wait for,
// one after the other: the longest chain decides how long all takes.
type queue struct {
	index      map[string]int
	successors [][]int
	// chain is how many steps the longest chain has that begins with a step.
	chain []int
	// order has every step behind all that it waits for.
	order []int
	// missing is how many steps a step still waits for.
	missing []int
	over    []bool
	ready   []int
	// at is where in ready a step is; -1 when it is not.
	at []int
}

func newQueue(steps []runbook.Step) *queue {
	n := len(steps)
	q := &queue{
		index: make(map[string]int, n), successors: make([][]int, n), chain: make([]int, n), missing: make([]int, n),
		over: make([]bool, n), at: make([]int, n),
	}
	for i, step := range steps {
		q.index[step.Name], q.at[i] = i, -1
	}
	waiting := make([]int, n)
	for name, before := range runbook.Predecessors(steps) {
		i := q.index[name]
		waiting[i], q.missing[i] = len(before), len(before)
		for _, other := range before {
			q.successors[q.index[other]] = append(q.successors[q.index[other]], i)
		}
	}
	q.measure(waiting)
	for i := range n {
		if q.missing[i] == 0 {
			q.push(i)
		}
	}
	return q
}

// measure finds the length of the chains, from the last steps to the first.
func (q *queue) measure(waiting []int) {
	for i, count := range waiting {
		if count == 0 {
			q.order = append(q.order, i)
		}
	}
	for at := 0; at < len(q.order); at++ {
		for _, next := range q.successors[q.order[at]] {
			if waiting[next]--; waiting[next] == 0 {
				q.order = append(q.order, next)
			}
		}
	}
	for _, i := range slices.Backward(q.order) {
		q.chain[i] = 1
		for _, next := range q.successors[i] {
			q.chain[i] = max(q.chain[i], q.chain[next]+1)
		}
	}
}

// finish frees the steps that waited for this one only.
func (q *queue) finish(i int) {
	q.over[i] = true
	q.withdraw(i)
	for _, next := range q.successors[i] {
		if q.missing[next]--; q.missing[next] == 0 && !q.over[next] {
			q.push(next)
		}
	}
}

// reopen puts a step back that was finished.
func (q *queue) reopen(i int) {
	q.over[i] = false
	for _, next := range q.successors[i] {
		q.missing[next]++
		q.withdraw(next)
	}
	if q.missing[i] == 0 {
		q.push(i)
	}
}

func (q *queue) finished(i int) bool { return q.over[i] }
func (q *queue) empty() bool         { return len(q.ready) == 0 }
func (q *queue) first() int          { return q.ready[0] }
func (q *queue) push(i int)          { heap.Push((*byChain)(q), i) }
func (q *queue) pop() int            { return heap.Pop((*byChain)(q)).(int) }

func (q *queue) withdraw(i int) {
	if q.at[i] >= 0 {
		heap.Remove((*byChain)(q), q.at[i])
	}
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
func (h *byChain) Swap(a, b int) {
	h.ready[a], h.ready[b] = h.ready[b], h.ready[a]
	h.at[h.ready[a]], h.at[h.ready[b]] = a, b
}
func (h *byChain) Push(i any) {
	h.at[i.(int)] = len(h.ready)
	h.ready = append(h.ready, i.(int))
}
func (h *byChain) Pop() any {
	last := h.ready[len(h.ready)-1]
	h.ready = h.ready[:len(h.ready)-1]
	h.at[last] = -1
	return last
}
