package kube

import (
	"time"

	"salve/internal/backoff"
)

// standing is where a queue stands in the agenda.
type standing int

const (
	idle   standing = iota // nobody waits
	ready                  // its first pod may be asked for
	asking                 // one of its pods is being asked for
	paused                 // it was refused, and waits
)

// queue is the pods that one thing holds back: a PodDisruptionBudget, or trouble
// in a namespace. One of them is asked for at a time: the budget of all gives the
// same answer to all, and evictions side by side under one budget conflict over
// its status inside the API server, which then waits half a second for each.
type queue struct {
	// blocker names what holds the pods back; of trouble, the latest.
	blocker   string
	namespace string
	schedule  backoff.Exponential
	// several budgets match the pods, which the Eviction API refuses for good.
	several bool
	// passing trouble is over for all when it is over for one.
	passing bool

	waiting  []*pod
	standing standing
	// refusals counts those in a row; blocks tells that there ever was one.
	refusals int
	blocks   bool
	due      time.Time
}

// agenda says which pod is asked for next. It has no lock: it belongs to the
// drain's loop.
type agenda struct {
	// free are pods that no budget is known to hold back.
	free   []*pod
	ready  []*queue
	paused []*queue
	// freeFirst makes free pods and queues take turns, so that neither waits for
	// the other.
	freeFirst bool
	// held is the time until which nothing is asked for at all, because the API
	// server asked for that or is not there; stumbles counts how often in a row.
	held     time.Time
	stumbles int
}

// add puts a pod where it belongs: to its budget's queue, or to the free ones.
func (a *agenda) add(p *pod) {
	if p.home == nil {
		a.free = append(a.free, p)
		return
	}
	a.join(p, p.home)
}

// join puts a pod at the end of a queue.
func (a *agenda) join(p *pod, q *queue) {
	if p.in != q {
		a.leave(p)
		p.in = q
		p.node.waiting[q]++
	}
	q.waiting = append(q.waiting, p)
	if q.standing == idle {
		q.standing = ready
		a.ready = append(a.ready, q)
	}
}

// leave takes a pod that is not waiting out of the count of its queue.
func (a *agenda) leave(p *pod) {
	if p.in == nil {
		return
	}
	if p.node.waiting[p.in]--; p.node.waiting[p.in] == 0 {
		delete(p.node.waiting, p.in)
	}
	p.in = nil
}

// next takes the pod that is to be asked for now, with the queue that it comes
// from; nil when there is none.
func (a *agenda) next(now time.Time) (*pod, *queue) {
	if now.Before(a.held) {
		return nil, nil
	}
	a.freeFirst = !a.freeFirst
	if a.freeFirst {
		if p := a.nextFree(); p != nil {
			return p, nil
		}
		return a.nextQueued()
	}
	if p, q := a.nextQueued(); p != nil {
		return p, q
	}
	return a.nextFree(), nil
}

func (a *agenda) nextFree() *pod {
	var p *pod
	for len(a.free) > 0 && (p == nil || p.stage == gone) {
		p, a.free = a.free[0], a.free[1:]
	}
	if p != nil && p.stage == gone {
		return nil
	}
	return p
}

func (a *agenda) nextQueued() (*pod, *queue) {
	for len(a.ready) > 0 {
		q := a.ready[0]
		a.ready = a.ready[1:]
		for len(q.waiting) > 0 {
			p := q.waiting[0]
			q.waiting = q.waiting[1:]
			if p.stage != gone {
				q.standing = asking
				return p, q
			}
		}
		q.standing = idle
	}
	return nil, nil
}

// granted lets a queue go on at once, its trouble being over.
func (a *agenda) granted(q *queue) {
	a.stumbles = 0
	if q == nil {
		return
	}
	q.refusals = 0
	a.answered(q)
	if !q.passing {
		return
	}
	released := q.waiting
	q.waiting, q.blocks = nil, false
	for _, p := range released {
		a.leave(p)
		p.trouble = ""
		a.add(p)
	}
}

// answered makes a queue whose pod is no longer being asked for ready again.
func (a *agenda) answered(q *queue) {
	if q == nil || q.standing != asking {
		return
	}
	if q.standing = idle; len(q.waiting) > 0 {
		q.standing = ready
		a.ready = append(a.ready, q)
	}
}

// refused puts a pod at the end of the queue that it was refused for, and lets
// the queue wait. A refusal while it waits already only prolongs the wait if the
// API server asks for that.
func (a *agenda) refused(p *pod, q *queue, now time.Time, retryAfter time.Duration) {
	q.blocks = true
	if q.standing == paused {
		a.join(p, q)
		if asked := now.Add(retryAfter); asked.After(q.due) {
			q.due = asked
		}
		return
	}
	if q.standing == ready {
		a.ready = without(a.ready, q)
	}
	q.refusals++
	q.due = now.Add(q.schedule.Pause(q.refusals, retryAfter))
	q.standing = paused
	a.paused = append(a.paused, q)
	a.join(p, q)
}

// hold stops everything for a while. Answers to calls that were under way before
// don't count once more.
func (a *agenda) hold(now time.Time, retryAfter time.Duration) {
	if now.Before(a.held) {
		return
	}
	a.stumbles++
	a.held = now.Add(stumbling.Pause(a.stumbles, retryAfter))
}

// wake makes the queues ready whose wait is over, and tells when to look again;
// the zero time when nothing waits.
func (a *agenda) wake(now time.Time) (next time.Time) {
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	waiting := a.paused[:0]
	for _, q := range a.paused {
		if q.due.After(now) {
			waiting = append(waiting, q)
			sooner(q.due)
			continue
		}
		q.standing = ready
		a.ready = append(a.ready, q)
	}
	clear(a.paused[len(waiting):])
	a.paused = waiting
	if a.held.After(now) {
		sooner(a.held)
	}
	return next
}

func without(queues []*queue, left *queue) []*queue {
	kept := queues[:0]
	for _, q := range queues {
		if q != left {
			kept = append(kept, q)
		}
	}
	return kept
}
