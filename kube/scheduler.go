package kube

import (
	"time"

	"salve/internal/backoff"
)

// queueState is what a queue waits for.
type queueState int

const (
	idle       queueState = iota // it is empty
	ready                        // the eviction of its first pod may be requested
	inFlight                     // the eviction of one of its pods is being requested
	backingOff                   // an eviction was refused, and it waits
)

// queue has the pods that wait for one thing: a PodDisruptionBudget, or the end of
// errors in a namespace. One eviction is requested at a time: the budget gives the
// same answer to all, and parallel evictions under one budget conflict over its
// status inside the API server, which then waits half a second for each
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/storage/eviction.go, EvictionsRetry).
type queue struct {
	// blocker names the budget, or the latest error.
	blocker   string
	namespace string
	schedule  backoff.Exponential
	// ambiguous: more than one budget selects the pods, which the Eviction API
	// refuses until somebody changes the budgets.
	ambiguous bool
	// transient errors are over for all pods when one of them was evicted.
	transient bool

	waiting []*pod
	state   queueState
	// refusals counts those in a row; hasBlocked tells that there ever was one.
	refusals   int
	hasBlocked bool
	retryAt    time.Time
}

// scheduler says which pod is evicted next. It has no lock: it belongs to the
// drain's loop.
type scheduler struct {
	// unbudgeted are pods that no budget is known to select.
	unbudgeted []*pod
	ready      []*queue
	backingOff []*queue
	// unbudgetedFirst alternates, so that neither those pods nor the queues starve.
	unbudgetedFirst bool
	// pausedUntil is the time until which no eviction is requested at all, because
	// the API server asked for that or did not answer; failures counts how often in
	// a row.
	pausedUntil time.Time
	failures    int
}

// add puts a pod into its budget's queue, or among the unbudgeted ones.
func (s *scheduler) add(p *pod) {
	if p.budgetQueue == nil {
		s.unbudgeted = append(s.unbudgeted, p)
		return
	}
	s.enqueue(p, p.budgetQueue)
}

// enqueue puts a pod at the end of a queue.
func (s *scheduler) enqueue(p *pod, q *queue) {
	if p.queue != q {
		s.dequeue(p)
		p.queue = q
		p.node.waiting[q]++
	}
	q.waiting = append(q.waiting, p)
	if q.state == idle {
		q.state = ready
		s.ready = append(s.ready, q)
	}
}

// dequeue takes a pod that does not wait any more out of the count of its queue.
func (s *scheduler) dequeue(p *pod) {
	if p.queue == nil {
		return
	}
	if p.node.waiting[p.queue]--; p.node.waiting[p.queue] == 0 {
		delete(p.node.waiting, p.queue)
	}
	p.queue = nil
}

// next takes the pod whose eviction is to be requested now, with the queue that it
// was in; nil when there is none.
func (s *scheduler) next(now time.Time) (*pod, *queue) {
	if now.Before(s.pausedUntil) {
		return nil, nil
	}
	s.unbudgetedFirst = !s.unbudgetedFirst
	if s.unbudgetedFirst {
		if p := s.nextUnbudgeted(); p != nil {
			return p, nil
		}
		return s.nextQueued()
	}
	if p, q := s.nextQueued(); p != nil {
		return p, q
	}
	return s.nextUnbudgeted(), nil
}

func (s *scheduler) nextUnbudgeted() *pod {
	var p *pod
	for len(s.unbudgeted) > 0 && (p == nil || p.stage == deleted) {
		p, s.unbudgeted = s.unbudgeted[0], s.unbudgeted[1:]
	}
	if p != nil && p.stage == deleted {
		return nil
	}
	return p
}

func (s *scheduler) nextQueued() (*pod, *queue) {
	for len(s.ready) > 0 {
		q := s.ready[0]
		s.ready = s.ready[1:]
		for len(q.waiting) > 0 {
			p := q.waiting[0]
			q.waiting = q.waiting[1:]
			if p.stage != deleted {
				q.state = inFlight
				return p, q
			}
		}
		q.state = idle
	}
	return nil, nil
}

// succeeded lets a queue go on at once; errors of a namespace are over then.
func (s *scheduler) succeeded(q *queue) {
	s.failures = 0
	if q == nil {
		return
	}
	q.refusals = 0
	s.release(q)
	if !q.transient {
		return
	}
	released := q.waiting
	q.waiting, q.hasBlocked = nil, false
	for _, p := range released {
		s.dequeue(p)
		p.lastError = ""
		s.add(p)
	}
}

// release makes a queue ready again whose request was answered.
func (s *scheduler) release(q *queue) {
	if q == nil || q.state != inFlight {
		return
	}
	if q.state = idle; len(q.waiting) > 0 {
		q.state = ready
		s.ready = append(s.ready, q)
	}
}

// backOff puts a pod at the end of the queue that its eviction was refused for, and
// lets the queue wait. A refusal while it waits already only prolongs the wait if
// the API server asks for that.
func (s *scheduler) backOff(p *pod, q *queue, now time.Time, retryAfter time.Duration) {
	q.hasBlocked = true
	if q.state == backingOff {
		s.enqueue(p, q)
		if requested := now.Add(retryAfter); requested.After(q.retryAt) {
			q.retryAt = requested
		}
		return
	}
	if q.state == ready {
		s.ready = removeQueue(s.ready, q)
	}
	q.refusals++
	q.retryAt = now.Add(q.schedule.Pause(q.refusals, retryAfter))
	q.state = backingOff
	s.backingOff = append(s.backingOff, q)
	s.enqueue(p, q)
}

// pause stops all requests for a while. Answers to requests that were in flight when
// it began don't count once more.
func (s *scheduler) pause(now time.Time, retryAfter time.Duration) {
	if now.Before(s.pausedUntil) {
		return
	}
	s.failures++
	s.pausedUntil = now.Add(unavailableBackoff().Pause(s.failures, retryAfter))
}

// wakeQueues makes the queues ready whose wait is over, and gives the time of the
// next wait's end; the zero time when nothing waits.
func (s *scheduler) wakeQueues(now time.Time) (next time.Time) {
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	waiting := s.backingOff[:0]
	for _, q := range s.backingOff {
		if q.retryAt.After(now) {
			waiting = append(waiting, q)
			sooner(q.retryAt)
			continue
		}
		q.state = ready
		s.ready = append(s.ready, q)
	}
	clear(s.backingOff[len(waiting):])
	s.backingOff = waiting
	if s.pausedUntil.After(now) {
		sooner(s.pausedUntil)
	}
	return next
}

func removeQueue(queues []*queue, removed *queue) []*queue {
	kept := queues[:0]
	for _, q := range queues {
		if q != removed {
			kept = append(kept, q)
		}
	}
	return kept
}
