package azuresim

import (
	"container/heap"
	"time"
)

// eventQueue holds what is due when. Events run in order of time, and in order of arrival at the same time; while one
// runs, the model's time is the time it was due, however late the process is.
type eventQueue struct {
	now     time.Time
	entries eventHeap
	counter int
	// earlier is called when an entry becomes the next one due.
	earlier func()
}

type event struct {
	at    time.Time
	order int
	do    func()
	off   bool
}

func newEventQueue(now time.Time, earlier func()) *eventQueue {
	return &eventQueue{now: now, earlier: earlier}
}

// at enters do for a time. Setting off on the entry takes it out.
func (t *eventQueue) at(when time.Time, do func()) *event {
	t.counter++
	e := &event{at: when, order: t.counter, do: do}
	heap.Push(&t.entries, e)
	if t.entries[0] == e {
		t.earlier()
	}
	return e
}

func (t *eventQueue) after(d time.Duration, do func()) *event {
	return t.at(t.now.Add(d), do)
}

// catchUp runs everything due until now.
func (t *eventQueue) catchUp(now time.Time) {
	for len(t.entries) > 0 && !t.entries[0].at.After(now) {
		e := heap.Pop(&t.entries).(*event)
		if e.off {
			continue
		}
		if e.at.After(t.now) {
			t.now = e.at
		}
		e.do()
	}
	if now.After(t.now) {
		t.now = now
	}
}

// postpone lets everything be due later, and makes it as much later now.
func (t *eventQueue) postpone(d time.Duration) {
	t.now = t.now.Add(d)
	for _, e := range t.entries {
		e.at = e.at.Add(d)
	}
}

// due is when the next entry is to run.
func (t *eventQueue) due() (time.Time, bool) {
	for len(t.entries) > 0 && t.entries[0].off {
		heap.Pop(&t.entries)
	}
	if len(t.entries) == 0 {
		return time.Time{}, false
	}
	return t.entries[0].at, true
}

// eventHeap is a heap by time, then by order of arrival.
type eventHeap []*event

func (e eventHeap) Len() int { return len(e) }
func (e eventHeap) Less(i, j int) bool {
	if e[i].at.Equal(e[j].at) {
		return e[i].order < e[j].order
	}
	return e[i].at.Before(e[j].at)
}
func (e eventHeap) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *eventHeap) Push(x any)   { *e = append(*e, x.(*event)) }
func (e *eventHeap) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return x
}
