package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/journal"
	"salve/runbook"
)

// schedule runs the steps of a run in the order of their graph, as many at a time as
// the runbook allows. All its fields belong to the goroutine of run; the steps at
// work are goroutines that speak to it through ended.
type schedule struct {
	x     *execution
	queue *queue
	// working are the steps at work; busy those of them that take a place.
	working, busy int
	// paused are steps that wait for their next attempt; retried counts those that
	// each has had.
	paused  int
	retried []int
	ready   chan int
	ended   chan stepEnd
	// over is closed when nobody listens to ready any more.
	over chan struct{}
	// failed are the steps that ended badly.
	failed []stepEnd
}

// stepEnd is how a step left the schedule.
type stepEnd struct {
	step int
	err  error
}

// endsRun tells whether the run ends whatever its other steps do.
func (e stepEnd) endsRun() bool { return ends(e.err) }

// newSchedule takes what is done, and what is left out again, from the record.
func newSchedule(ctx context.Context, x *execution) (*schedule, error) {
	s := &schedule{
		x: x, queue: newQueue(x.book.Steps), retried: make([]int, len(x.book.Steps)),
		ready: make(chan int), ended: make(chan stepEnd, 16), over: make(chan struct{}),
	}
	for i, step := range x.book.Steps {
		if history := x.log.step(step.Name); s.takeEnded(i) && step.Skip != "" && history.Skipped() {
			x.emit(Event{Kind: StepEnded, Step: step.Name, Result: &history.Last})
		}
	}
	return s, s.reopenStale(ctx)
}

// takeEnded takes a step from the record that is done, or is to be skipped and was. It tells whether there was one.
func (s *schedule) takeEnded(i int) bool {
	step := s.x.book.Steps[i]
	history := s.x.log.step(step.Name)
	ended := history.Finished() || step.Skip != "" && history.Skipped()
	if ended {
		s.queue.finish(i)
	}
	return ended
}

// remaining are the steps that are left to do, those among them that are done and whose results were not kept.
func (x *execution) remaining(ctx context.Context) (steps []runbook.Step, _ error) {
	s := &schedule{x: x, queue: newQueue(x.book.Steps)}
	for i := range x.book.Steps {
		s.takeEnded(i)
	}
	if err := s.reopenStale(ctx); err != nil {
		return nil, err
	}
	for i, step := range x.book.Steps {
		if !s.queue.finished(i) {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

// reopenStale puts steps back that are done and whose results were not kept. One
// that is reopened may need another, so that it goes on until none is found: mostly
// after one pass, or two where some are.
func (s *schedule) reopenStale(ctx context.Context) error {
	for again := true; again; {
		var err error
		again, err = try(ctx, s.x.engine.Clock, 0, s.reopenPass)
		if err != nil {
			if refused := s.x.keepStack(ctx, "", err); refused != nil {
				return refused
			}
			return &decided{journal.Verdict{Outcome: runbook.NeedsAttention, Reason: err.Error()}}
		}
	}
	return nil
}

// reopenPass asks each step once, after all that wait for it: what they need is known
// by then. It tells whether it put any back.
func (s *schedule) reopenPass() (reopened bool, err error) {
	for _, i := range slices.Backward(s.queue.order) {
		step := s.x.book.Steps[i]
		if step.Stale == nil || !s.queue.finished(i) || step.Skip != "" {
			continue
		}
		stale, err := step.Stale(pending{s.x.view(step.Name), s.queue})
		if err != nil {
			return false, err
		}
		if stale {
			s.queue.reopen(i)
			reopened = true
		}
	}
	return reopened, nil
}

// pending is a view for which a step that was reopened is not done.
type pending struct {
	view
	queue *queue
}

// Step tells how far a step is; one that is to be done again is not done.
func (p pending) Step(name string) runbook.StepStatus {
	status := p.view.Step(name)
	i, found := p.queue.index[name]
	status.Done = status.Done && found && p.queue.finished(i)
	return status
}

// run works until no step is left that can begin, and then until those at work have
// ended. After the first failure no further step begins, unless the runbook says
// so; an error that ends the run whatever its steps do ends those at work too.
func (s *schedule) run(ctx context.Context) error {
	defer close(s.over)
	attempts, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for {
		freed := s.x.engine.Places.freed() // asked before a place is: none is missed that becomes free in between
		for s.mayBegin(ctx) && !s.queue.empty() {
			if !s.begin(attempts) {
				break
			}
		}
		if s.working == 0 && !s.awaits(ctx) {
			return s.result(ctx)
		}
		select {
		case <-freed:
		case i := <-s.ready:
			s.paused--
			s.queue.push(i)
		case end := <-s.ended:
			s.take(attempts, end, cancel)
		case <-s.stopped(ctx):
		}
	}
}

// awaits tells whether a step may begin later, though none is at work: after its pause, or when another run gives a
// place back.
func (s *schedule) awaits(ctx context.Context) bool {
	return s.mayBegin(ctx) && (s.paused > 0 || !s.queue.empty())
}

// stopped is closed when the run was asked to stop while nothing is at work.
func (s *schedule) stopped(ctx context.Context) <-chan struct{} {
	if s.working > 0 {
		return nil
	}
	return ctx.Done()
}

func (s *schedule) mayBegin(ctx context.Context) bool {
	if context.Cause(ctx) != nil {
		return false
	}
	if !s.x.book.KeepGoing {
		return len(s.failed) == 0
	}
	return !slices.ContainsFunc(s.failed, stepEnd.endsRun)
}

// begin starts the first step of the queue; false when it has to wait for a place.
func (s *schedule) begin(ctx context.Context) bool {
	i := s.queue.first()
	step := s.x.book.Steps[i]
	if !step.Idle && (s.busy >= max(1, s.x.book.Parallel) || !s.x.engine.Places.take()) {
		return false
	}
	s.queue.pop()
	s.working++
	if !step.Idle {
		s.busy++
	}
	go func() { s.ended <- stepEnd{i, s.x.perform(ctx, step)} }()
	return true
}

// take takes a step that has ended, and decides what follows from it.
func (s *schedule) take(ctx context.Context, end stepEnd, cancel context.CancelCauseFunc) {
	step := s.x.book.Steps[end.step]
	s.working--
	if !step.Idle {
		s.busy--
		s.x.engine.Places.give()
	}
	switch {
	case end.err == nil:
		s.queue.finish(end.step)
	case s.retries(ctx, end):
	default:
		s.failed = append(s.failed, end)
		if ends(end.err) {
			cancel(end.err)
		}
	}
}

// retries tells whether a failed attempt is followed by another, and sees to it.
func (s *schedule) retries(ctx context.Context, end stepEnd) bool {
	step := s.x.book.Steps[end.step]
	rule := step.Retries
	if rule == nil || s.retried[end.step] >= rule.Count || ends(end.err) || !s.mayBegin(ctx) ||
		!s.names(ctx, step, end.err) {
		return false
	}
	s.retried[end.step]++
	s.x.emit(Event{Kind: Waiting, Step: step.Name, Text: retrySentence(end.err, s.retried[end.step], *rule)})
	s.paused++
	s.x.engine.Clock.AfterFunc(max(rule.Between, time.Nanosecond), func() {
		select {
		case s.ready <- end.step:
		case <-s.over:
		}
	})
	return true
}

// names tells whether a step's retries are for this failure. Code that panics names none.
func (s *schedule) names(ctx context.Context, step runbook.Step, failure error) bool {
	return call(ctx, s.x.engine.Clock, step.Grace, func() bool { return step.Retries.When(failure) },
		func(error) bool { return false })
}

// result is why the steps did not all end well; nil when they did.
func (s *schedule) result(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !s.complete() {
		for _, end := range s.failed {
			if end.endsRun() && !errors.Is(end.err, cause) {
				return end.err
			}
		}
		return cause
	}
	if i := slices.IndexFunc(s.failed, stepEnd.endsRun); i >= 0 {
		return s.failed[i].err
	}
	switch len(s.failed) {
	case 0:
		return nil
	case 1:
		return s.failed[0].err
	}
	several := &failures{}
	for _, end := range s.failed {
		several.all, several.steps = append(several.all, end.err), append(several.steps, s.x.book.Steps[end.step].Name)
	}
	return several
}

func (s *schedule) complete() bool {
	for i := range s.x.book.Steps {
		if !s.queue.finished(i) {
			return false
		}
	}
	return true
}

// failures are those of several steps. The first may be why the others failed.
type failures struct {
	all   []error
	steps []string
}

func (e *failures) Error() string { return e.all[0].Error() }

// Unwrap gives all of them.
func (e *failures) Unwrap() []error { return e.all }

func retrySentence(err error, number int, rule runbook.Retries) string {
	return fmt.Sprintf("%v; retry %d of %d in %s", err, number, rule.Count, rule.Between)
}
