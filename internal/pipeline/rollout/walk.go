package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// walk is one run at work. Its fields belong to the goroutine that runs it; the
// attempts are goroutines of their own and speak to it through channels.
type walk struct {
	runner *Runner
	plan   *Plan
	record *journal.Record
	leases *leases
	past   *past

	queue   *queue
	outputs outputs
	// running are the attempts under way, by their step; busy those of them that
	// take a place.
	running map[int]bool
	busy    int
	// paused are steps that wait for their next attempt.
	paused map[int]clock.Timer
	// drafts are entries that are to be written before anything else is begun.
	drafts []journal.Pending
	began  []int
	// tries counts the attempts that this process has made at a step.
	tries map[int]int
	// stopping: no further step begins. broken is why, when it is not a step's
	// failure.
	stopping bool
	broken   error
	// hidden are the secrets that are known; no reason may hold one.
	hidden []string
	// lost is why nothing may be written any more.
	lost     error
	failures []int

	ended chan ending
	again chan int
	notes chan note
	// over is closed when nobody listens to these any more.
	over chan struct{}

	findings []runbook.Finding
	warnings []string
	telling  sync.Mutex
}

// ending is how an attempt at a step ended.
type ending struct {
	step    int
	outcome Outcome
}

// note is a value that an attempt wants to have written.
type note struct {
	step   int
	name   string
	value  any
	answer chan error
}

func (r *Runner) walk(plan *Plan, record *journal.Record, held *leases, past *past) *walk {
	return &walk{
		runner: r, plan: plan, record: record, leases: held, past: past,
		queue: newQueue(plan.Graph), outputs: newOutputs(), running: map[int]bool{}, paused: map[int]clock.Timer{},
		hidden: slices.Clone(plan.secrets.texts),
		tries:  map[int]int{}, ended: make(chan ending, 16), again: make(chan int), notes: make(chan note), over: make(chan struct{}),
	}
}

// execute takes a run as far as it goes.
func (r *Runner) execute(ctx context.Context, w *walk, options Options) (engine.Result, error) {
	began := "opened"
	if len(w.record.Entries) > 1 {
		began = "resumed"
	}
	w.tell(engine.Event{Kind: engine.RunBegan, Text: began})
	verdict, open, err := w.proceed(ctx, options)
	if err != nil {
		return w.result(journal.Verdict{Outcome: runbook.NeedsAttention, Reason: err.Error()}), err
	}
	kind := journal.Closed
	if open {
		kind = journal.Parked
	}
	if err := w.append(ctx, journal.Pending{Kind: kind, Data: verdict}); err != nil {
		return w.result(verdict), err
	}
	w.tell(engine.Event{Kind: engine.RunEnded, Text: verdict.Reason, Verdict: &verdict})
	return w.result(verdict), nil
}

func (w *walk) result(verdict journal.Verdict) engine.Result {
	return engine.Result{
		Run: w.record.Run, Runbook: Name, Target: w.plan.Target(), Outcome: verdict.Outcome, Reason: verdict.Reason,
		Question: verdict.Question, Open: w.record.Closed == nil, Findings: w.findings, Plan: w.record.Plan, Warnings: w.warnings,
	}
}

// proceed judges, settles what an earlier process left, and works through the
// steps. It says how the run stops, and whether it can be gone on with.
func (w *walk) proceed(ctx context.Context, options Options) (verdict journal.Verdict, open bool, err error) {
	decision, err := w.judge(ctx)
	if errors.Is(err, engine.ErrInterrupted) {
		return w.interrupted(), w.record.Changed(), nil
	}
	if err != nil || decision.Outcome != "" {
		return decision, w.record.Changed(), err
	}
	if err := w.announce(ctx); err != nil {
		return verdict, true, err
	}
	asked, err := w.settle(ctx, options.Answers)
	if err != nil || asked.Outcome != "" {
		return asked, true, err
	}
	if err := w.recall(); err != nil {
		return verdict, true, err
	}
	if err := w.work(ctx); err != nil {
		return verdict, true, err
	}
	return w.verdict(ctx)
}

// announce writes the plan of a run that has none yet, and says it.
func (w *walk) announce(ctx context.Context) error {
	if w.record.Plan == nil {
		plan, err := w.plan.planned()
		if err != nil {
			return err
		}
		if err := w.append(ctx, journal.Pending{Kind: journal.Planned, Data: plan}); err != nil {
			return err
		}
		w.warnOfOthers(ctx)
	}
	w.tell(engine.Event{Kind: engine.PlanMade, Plan: w.record.Plan})
	return w.broken
}

// recall takes what is done from the record.
func (w *walk) recall() error {
	for i, step := range w.plan.Steps {
		if w.leftOut(i) {
			w.recallLeftOut(i)
			continue
		}
		if !w.record.Step(step.ID().String()).Finished() {
			continue
		}
		var made kept
		if _, err := w.record.Recall(noteOf(step.ID()), &made); err != nil {
			return err
		}
		read, err := made.read()
		if err != nil {
			return err
		}
		w.outputs[step.ID()] = read
		w.queue.done(i)
	}
	return w.remake()
}

// remake puts steps back that are done and whose secret outputs a step needs that
// is not, where running them again does no harm.
func (w *walk) remake() error {
	var lost []error
	for again := true; again && len(lost) == 0; {
		again = false
		for i, step := range w.plan.Steps {
			for _, input := range step.Inputs {
				source := w.plan.index[input.ID()]
				output, found := w.outputs[input.ID()][input.Name.Value]
				if w.queue.finished(i) || !w.queue.finished(source) || !found || !output.Secret {
					continue
				}
				if w.plan.skips(w.plan.Steps[source]) || !w.repeatable(source) {
					lost = append(lost, &MissingInputError{Step: step.ID(), Input: input, Lost: true})
					continue
				}
				w.queue.undone(source)
				again = true
			}
		}
	}
	if len(lost) > 0 {
		said := strings.ReplaceAll(errors.Join(lost...).Error(), "\n", "; ")
		return usage("%s; abandon the run, or mark the step that makes it idempotent: true", said)
	}
	return nil
}

// repeatable tells whether a step can be run again without asking.
func (w *walk) repeatable(i int) bool {
	step := w.plan.Steps[i]
	action, known := w.runner.Actions[step.Action.Value]
	return step.Idempotent || known && action.Traits().Repeatable
}

// work runs steps until none is left that can be run.
func (w *walk) work(ctx context.Context) error {
	attempts, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer close(w.over)
	asked := ctx.Done()
	for {
		w.begin()
		if err := w.commit(ctx); err != nil && w.broken == nil {
			w.stop(err)
			cancel(err)
		}
		w.launch(attempts)
		if len(w.running) == 0 && len(w.paused) == 0 && (w.stopping || w.queue.empty()) {
			return w.broken
		}
		select {
		case <-asked:
			asked = nil
			w.stop(nil)
		case i := <-w.again:
			delete(w.paused, i)
			w.queue.push(i)
		case wanted := <-w.notes:
			wanted.answer <- w.append(ctx, journal.Pending{Kind: journal.Noted, Step: w.name(wanted.step), Data: wanted.data()})
		case ended := <-w.ended:
			w.take(ended)
			w.takeMore()
		}
	}
}

// takeMore takes what has ended meanwhile: it costs no more to write it all.
func (w *walk) takeMore() {
	for {
		select {
		case ended := <-w.ended:
			w.take(ended)
		default:
			return
		}
	}
}

// stop lets no further step begin.
func (w *walk) stop(broken error) {
	w.stopping = true
	w.broken = errors.Join(w.broken, broken)
	for i, timer := range w.paused {
		timer.Stop()
		delete(w.paused, i)
	}
}

// begin announces the steps that can be begun, as many as there is room for.
func (w *walk) begin() {
	for !w.stopping && !w.queue.empty() {
		i := w.queue.first()
		idle := w.idle(i)
		if !idle && w.busy >= w.plan.Inputs.Concurrency {
			return
		}
		w.queue.pop()
		w.announceStep(i)
	}
}

func (w *walk) idle(i int) bool {
	step := w.plan.Steps[i]
	return w.plan.skips(step) || w.runner.Actions[step.Action.Value].Traits().Idle
}

// announceStep drafts the intent of an attempt at a step. A step that is to be left
// out is so at once; one that lacks an input has failed at once.
func (w *walk) announceStep(i int) {
	step := w.plan.Steps[i]
	if w.plan.skips(step) {
		w.settled(i, Outcome{Result: journal.Skipped, Reason: leftOut})
		return
	}
	given, err := w.given(step)
	if err != nil {
		w.settled(i, Outcome{Result: journal.Failure, Reason: err.Error()})
		return
	}
	inputs, err := encode(masked(given))
	if err != nil {
		w.settled(i, Outcome{Result: journal.Failure, Reason: err.Error()})
		return
	}
	number := w.attempts(i) + 1
	w.drafts = append(w.drafts, journal.Pending{Kind: journal.Intended, Step: w.name(i), Data: journal.Intent{Attempt: number, Inputs: inputs}})
	w.began = append(w.began, i)
	w.running[i] = true
	w.tries[i]++
	if !w.idle(i) {
		w.busy++
	}
}

// commit writes what was drafted. Nothing that it announces may be done when that
// fails.
func (w *walk) commit(ctx context.Context) error {
	if len(w.drafts) == 0 {
		return nil
	}
	drafts := w.drafts
	w.drafts = nil
	if err := w.leases.check(context.WithoutCancel(ctx)); err != nil && w.lost == nil {
		w.lost = fmt.Errorf("the target is not shown to be ours any more: %w", err)
	}
	if err := w.append(ctx, drafts...); err != nil {
		w.forget()
		return err
	}
	w.tellEnded(drafts)
	return nil
}

// forget takes back steps that were to begin and were not written.
func (w *walk) forget() {
	for _, i := range w.began {
		w.drop(i)
	}
	w.began = nil
}

func (w *walk) drop(i int) {
	delete(w.running, i)
	if !w.idle(i) {
		w.busy--
	}
}

// launch begins the attempts that were announced.
func (w *walk) launch(ctx context.Context) {
	for _, i := range w.began {
		step := w.plan.Steps[i]
		number := w.record.Step(w.name(i)).Attempts
		given, _ := w.given(step) // they were there when the step was announced
		w.tell(engine.Event{Kind: engine.StepBegan, Step: w.name(i), Attempt: number})
		for _, one := range given {
			if one.Secret {
				w.hidden = append(w.hidden, one.Text())
			}
		}
		attempt := w.attempt(i, number, given)
		go func() { w.ended <- ending{i, w.logged(ctx, attempt)} }()
	}
	w.began = w.began[:0]
}
