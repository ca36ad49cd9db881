package kube

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
	"salve/runbook"
)

const (
	// defaultParallel bounds the evictions that are in flight at once. It is the
	// only limit on them: how many a second that makes is the API server's to say,
	// by its priority and fairness.
	defaultParallel = 64
	// lastResultsTimeout is how long the answers to the last evictions are waited
	// for when the pods were seen deleted before them, as those without a grace
	// period are.
	lastResultsTimeout = time.Second
)

// errStopped ends the loop when its context ended. Whether that is the drain's
// deadline or the caller's end is for the caller to tell.
var errStopped = errors.New("stopped")

// drainer drains a fixed set of pods. All of its state belongs to one loop; workers,
// which request evictions, watches, which see pods deleted, and the precondition
// only send to it.
type drainer struct {
	cluster      *Cluster
	evictor      evictor
	parallel     int
	nodes        []*drainingNode
	pods         map[types.UID]*pod
	budgets      *budgets
	scheduler    scheduler
	precondition precondition
	report       progressReporter
	remaining    int
	evicted      []string

	work      chan assignment
	results   chan evictionResult
	deletions chan types.UID
	// crashes has room for one of each goroutine.
	crashes chan error
	// inFlight counts the pods whose eviction is being requested.
	inFlight int
}

// assignment is a pod to evict, and the queue that it was taken from.
type assignment struct {
	pod  *pod
	from *queue
}

func newDrainer(ctx context.Context, c *Cluster, nodes []*drainingNode, budgets *budgets,
	options DrainOptions) *drainer {
	d := &drainer{
		cluster: c, evictor: evictor{cluster: c, permit: runbook.PermitFrom(ctx)}, nodes: nodes, budgets: budgets,
		parallel: options.Parallel, pods: map[types.UID]*pod{}, precondition: newPrecondition(c.Clock, options),
		report: progressReporter{report: options.Progress},
	}
	if d.parallel <= 0 {
		d.parallel = defaultParallel
	}
	for _, node := range d.nodes {
		for _, p := range node.pods {
			d.pods[p.uid] = p
			p.budgetQueue, p.labels = budgets.queueFor(p), nil
		}
	}
	d.remaining = len(d.pods)
	d.work, d.results = make(chan assignment, d.parallel), make(chan evictionResult, d.parallel)
	d.deletions, d.crashes = make(chan types.UID, d.parallel), make(chan error, d.parallel+len(nodes))
	return d
}

// run evicts every pod and watches them until all are deleted, ctx ends, the
// precondition fails, or the permit is no longer valid.
func (d *drainer) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var goroutines sync.WaitGroup
	for _, node := range d.nodes {
		if node.remaining > 0 {
			var own context.Context
			own, node.stopWatch = context.WithCancel(ctx)
			goroutines.Go(d.contained(func() { d.cluster.watchPods(own, node, d.deletions) }))
		}
	}
	for range min(d.parallel, len(d.pods)) {
		goroutines.Go(d.contained(func() {
			for next := range d.work {
				d.results <- d.evictor.evict(ctx, next.pod, next.from) // it has room for one of each worker
			}
		}))
	}
	if d.remaining > 0 {
		goroutines.Go(func() { d.precondition.evaluate(ctx) })
	}
	d.enqueueAll()
	err := d.loop(ctx)
	cancel()
	close(d.work)
	goroutines.Wait()
	d.collectResults()
	d.report.reportLast(d)
	return err
}

// contained is work for a goroutine; a panic in it ends the drain with an error.
func (d *drainer) contained(work func()) func() {
	return func() {
		if err := apierr.Recovered(func() error { work(); return nil }); err != nil {
			d.crashes <- err
		}
	}
}

// collectResults takes the results that came while the drain ended.
func (d *drainer) collectResults() {
	close(d.results)
	for result := range d.results {
		if result.outcome == evicted {
			d.handle(result, d.cluster.Clock.Now())
		}
	}
}

// enqueueAll hands the pods to the scheduler, one of each node in turn.
func (d *drainer) enqueueAll() {
	for i, more := 0, true; more; i++ {
		more = false
		for _, node := range d.nodes {
			if i < len(node.pods) {
				more = true
				if p := node.pods[i]; p.stage == pending {
					d.scheduler.add(p)
				}
			}
		}
	}
}

func (d *drainer) loop(ctx context.Context) error {
	alarm := d.cluster.Clock.NewTimer(time.Hour)
	defer alarm.Stop()
	var end time.Time // until when results are waited for that can't matter any more
	for d.remaining > 0 || d.inFlight > 0 {
		now := d.cluster.Clock.Now()
		switch {
		case d.remaining == 0 && end.IsZero():
			end = now.Add(lastResultsTimeout)
		case d.remaining == 0 && !now.Before(end):
			return nil
		}
		setAlarm(alarm, now, d.scheduler.wakeQueues(now), d.report.reportIfDue(d, now), end)
		d.assign(now)
		select {
		case <-ctx.Done():
			return errStopped
		case <-alarm.C():
		case err := <-d.crashes:
			return err
		case err := <-d.precondition.results:
			if err := d.checked(ctx, err); err != nil {
				return err
			}
		case uid := <-d.deletions:
			d.markDeleted(d.pods[uid])
		case result := <-d.results:
			if err := d.receive(ctx, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive handles a result, and gives the error that ends the drain, if it is one.
func (d *drainer) receive(ctx context.Context, result evictionResult) error {
	switch {
	case context.Cause(ctx) != nil && result.outcome != evicted: // it may be due to the end itself
		return errStopped
	case result.outcome == unpermitted && d.remaining > 0:
		return result.err
	}
	d.handle(result, d.cluster.Clock.Now())
	return nil
}

// checked notes that the precondition held, or gives the error that ends the drain.
func (d *drainer) checked(ctx context.Context, err error) error {
	switch {
	case context.Cause(ctx) != nil:
		return errStopped
	case err != nil && d.remaining > 0:
		return err
	}
	d.precondition.heldAt = d.cluster.Clock.Now()
	return nil
}

func setAlarm(alarm clock.Timer, now time.Time, times ...time.Time) {
	wait := time.Hour
	for _, at := range times {
		if !at.IsZero() {
			wait = min(wait, at.Sub(now))
		}
	}
	alarm.Reset(max(wait, 0))
}

// assign gives work to the workers that have none. Their channel has room for all
// of them.
func (d *drainer) assign(now time.Time) {
	for d.inFlight < d.parallel && d.precondition.holds(now) {
		p, from := d.scheduler.next(now)
		if p == nil {
			return
		}
		d.inFlight++
		p.stage = evicting
		d.work <- assignment{p, from}
	}
}

// handle updates the state by a result. A pod whose eviction was refused, for
// whatever reason, is tried again.
func (d *drainer) handle(result evictionResult, now time.Time) {
	d.inFlight--
	d.report.changed = true
	if result.outcome != unavailable {
		d.scheduler.failures = 0
	}
	p := result.pod
	switch {
	case result.outcome == evicted:
		d.scheduler.succeeded(result.from)
		if p.stage != deleted { // the watch may have been faster
			p.stage = terminating
		}
		d.scheduler.dequeue(p)
	case result.outcome == podGone:
		d.markDeleted(p)
	case p.stage != deleted:
		d.requeue(result, now)
	}
	d.scheduler.release(result.from)
}

// requeue puts a pod whose eviction was refused into the queue where it waits for
// the next attempt.
func (d *drainer) requeue(result evictionResult, now time.Time) {
	p := result.pod
	p.lastError = ""
	switch {
	case result.outcome == blockedByBudget:
		if result.budget != "" || p.budgetQueue == nil {
			p.budgetQueue = d.budgets.queue(p.namespace, result.budget)
		}
		d.scheduler.backOff(p, p.budgetQueue, now, result.retryAfter)
		return
	case result.outcome == failed && p.budgetQueue != nil && p.budgetQueue.ambiguous:
		d.scheduler.backOff(p, p.budgetQueue, now, result.retryAfter)
		return
	case result.outcome == unavailable:
		d.scheduler.pause(now, result.retryAfter)
	}
	p.lastError = bounded(result.err.Error())
	queue := d.budgets.errorQueue(p.namespace)
	queue.blocker = p.lastError
	d.scheduler.backOff(p, queue, now, result.retryAfter)
}

// markDeleted counts a pod as deleted.
func (d *drainer) markDeleted(p *pod) {
	if p == nil || p.stage == deleted {
		return
	}
	p.stage = deleted
	d.scheduler.dequeue(p)
	d.remaining--
	d.evicted = append(d.evicted, p.String())
	if p.node.remaining--; p.node.remaining == 0 {
		p.node.stopWatch()
	}
	d.report.changed = true
}
