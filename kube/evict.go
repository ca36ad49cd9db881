package kube

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"salve/runbook"
)

// defaultParallel bounds the evictions that are in flight at once. It is the only
// limit on them: how many a second that makes is the API server's to say, by its
// priority and fairness.
const defaultParallel = 64

// linger is how long the answers to the last evictions are waited for when the
// pods were seen to go before them, as those without grace are.
const linger = time.Second

// eviction is a drain at work on a fixed set of pods. All of its state belongs to
// one loop; workers, which ask for evictions, and followers, which see pods go,
// only send to it.
type eviction struct {
	cluster  *Cluster
	asker    asker
	parallel int
	nodes    []*emptying
	pods     map[types.UID]*pod
	budgets  *budgets
	agenda   agenda
	report   reporter
	left     int
	evicted  []string

	work    chan assignment
	answers chan answer
	seen    chan types.UID
	// busy counts the pods that are being asked for.
	busy int
}

// assignment is a pod to be asked for, and the queue that it comes from.
type assignment struct {
	pod  *pod
	from *queue
}

func newEviction(ctx context.Context, c *Cluster, nodes []*emptying, budgets *budgets, options DrainOptions) *eviction {
	e := &eviction{
		cluster: c, asker: asker{cluster: c, permit: runbook.PermitFrom(ctx)}, nodes: nodes, budgets: budgets,
		parallel: options.Parallel, pods: map[types.UID]*pod{}, report: reporter{tell: options.Progress},
	}
	if e.parallel <= 0 {
		e.parallel = defaultParallel
	}
	for _, node := range e.nodes {
		for _, p := range node.pods {
			e.pods[p.uid] = p
			p.home, p.labels = budgets.of(p), nil
		}
	}
	e.left = len(e.pods)
	e.work, e.answers = make(chan assignment, e.parallel), make(chan answer, e.parallel)
	e.seen = make(chan types.UID, e.parallel)
	return e
}

// run evicts every pod and follows them until all are gone, ctx ends, or the
// permit is void.
func (e *eviction) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var team sync.WaitGroup
	for _, node := range e.nodes {
		if node.left > 0 {
			var own context.Context
			own, node.settled = context.WithCancel(ctx)
			team.Go(func() { e.cluster.follow(own, node, e.seen) })
		}
	}
	for range min(e.parallel, len(e.pods)) {
		team.Go(func() {
			for next := range e.work {
				e.answers <- e.asker.ask(ctx, next.pod, next.from) // it has room for one of each worker
			}
		})
	}
	e.schedule()
	err := e.loop(ctx)
	cancel()
	close(e.work)
	team.Wait()
	e.settle()
	e.report.last(e)
	return err
}

// settle takes the answers that came while the drain ended.
func (e *eviction) settle() {
	close(e.answers)
	for reply := range e.answers {
		if reply.outcome == granted {
			e.judge(reply, e.cluster.Clock.Now())
		}
	}
}

// schedule puts the pods on the agenda, one of each node in turn.
func (e *eviction) schedule() {
	for i, more := 0, true; more; i++ {
		more = false
		for _, node := range e.nodes {
			if i < len(node.pods) {
				more = true
				if p := node.pods[i]; p.stage == untouched {
					e.agenda.add(p)
				}
			}
		}
	}
}

func (e *eviction) loop(ctx context.Context) error {
	alarm := e.cluster.Clock.NewTimer(time.Hour)
	defer alarm.Stop()
	var over time.Time // until when answers are waited for that can't matter any more
	for e.left > 0 || e.busy > 0 {
		now := e.cluster.Clock.Now()
		switch {
		case e.left == 0 && over.IsZero():
			over = now.Add(linger)
		case e.left == 0 && !now.Before(over):
			return nil
		}
		setAlarm(alarm, now, e.agenda.wake(now), e.report.due(e, now), over)
		e.assign(now)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-alarm.C():
		case uid := <-e.seen:
			e.gone(e.pods[uid])
		case reply := <-e.answers:
			if err := e.take(ctx, reply); err != nil {
				return err
			}
		}
	}
	return nil
}

// take judges an answer, and gives the error that ends the drain, if it is one.
func (e *eviction) take(ctx context.Context, reply answer) error {
	switch cause := context.Cause(ctx); {
	case cause != nil && reply.outcome != granted: // it may be no more than the end itself
		return cause
	case reply.outcome == void && e.left > 0:
		return reply.err
	}
	e.judge(reply, e.cluster.Clock.Now())
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

// assign gives work to the workers that have none. Their channel has room for
// all of them.
func (e *eviction) assign(now time.Time) {
	for e.busy < e.parallel {
		p, from := e.agenda.next(now)
		if p == nil {
			return
		}
		e.busy++
		p.stage = asked
		e.work <- assignment{p, from}
	}
}

// judge draws the consequences of an answer. A pod whose eviction is refused, for
// whatever reason, is asked for again.
func (e *eviction) judge(reply answer, now time.Time) {
	e.busy--
	e.report.changed = true
	if reply.outcome != unanswered {
		e.agenda.stumbles = 0
	}
	p := reply.pod
	switch {
	case reply.outcome == granted:
		e.agenda.granted(reply.from)
		if p.stage != gone { // the watch may have been quicker
			p.stage = ending
		}
		e.agenda.leave(p)
	case reply.outcome == departed:
		e.gone(p)
	case p.stage != gone:
		e.again(reply, now)
	}
	e.agenda.answered(reply.from)
}

// again puts a pod that was refused where it waits for another try.
func (e *eviction) again(reply answer, now time.Time) {
	p := reply.pod
	p.trouble = ""
	switch {
	case reply.outcome == refused:
		if reply.budget != "" || p.home == nil {
			p.home = e.budgets.queue(p.namespace, reply.budget)
		}
		e.agenda.refused(p, p.home, now, reply.retryAfter)
		return
	case reply.outcome == failed && p.home != nil && p.home.several:
		e.agenda.refused(p, p.home, now, reply.retryAfter)
		return
	case reply.outcome == unanswered:
		e.agenda.hold(now, reply.retryAfter)
	}
	p.trouble = reply.err.Error()
	trouble := e.budgets.trouble(p.namespace)
	trouble.blocker = p.trouble
	e.agenda.refused(p, trouble, now, reply.retryAfter)
}

// gone strikes a pod off.
func (e *eviction) gone(p *pod) {
	if p == nil || p.stage == gone {
		return
	}
	p.stage = gone
	e.agenda.leave(p)
	e.left--
	e.evicted = append(e.evicted, p.String())
	if p.node.left--; p.node.left == 0 {
		p.node.settled()
	}
	e.report.changed = true
}
