package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/kube"
)

const (
	// atMost is how often rules are asked at most, and atLeast how often at least: some findings are a matter of time.
	atMost  = time.Second
	atLeast = 5 * time.Second
	// gathering is how long changes that come together are waited for.
	gathering = 100 * time.Millisecond
	// idle is how many times as long as the rules took nothing is asked: of a very large Prow a fiftieth of one
	// processor is enough.
	idle = 50
	// listing is how long the first lists may take before it is told that nothing is seen, and settling how often it is
	// looked whether they are complete.
	listing  = 10 * time.Second
	settling = 100 * time.Millisecond
)

// Options are what is watched, and who is told.
type Options struct {
	Instance stray.Instance
	// ProwJobs is the cluster of the ProwJobs, Pods the build cluster. They may be the same.
	ProwJobs, Pods *kube.Cluster
	Clock          clock.Clock
	// Named are the namespaces in which pods are looked at where all are refused.
	Named []string
	// ConfigMap is the one in the namespace of the ProwJobs that Prow's components read, as NAME/KEY; empty where it is
	// not to be compared.
	ConfigMap string
	// RolloutSince is when plank was rolled out, for one that has no Lease and runs elsewhere; zero where nobody said.
	// Where its start is seen, or could be and can't be read, it doesn't count.
	RolloutSince time.Time
	// Poller asks about GitHub, every so often; nil for nobody.
	Poller Poller
	Every  time.Duration
	Sinks  []Sink
	// Settle is how long what is better has to stay so until it is told as a change. What holds is in the report, and
	// ends the watch, at once.
	Settle time.Duration
	// Until ends the watch as soon as a finding is as severe; empty for never.
	Until finding.Severity
	// Warn is told what goes wrong with the watch itself.
	Warn func(string)
}

// Poller asks rules that need somebody else than the cluster, one round after the other. What it can't see is in the
// verdicts.
type Poller interface {
	Poll(ctx context.Context) (finding.List, []finding.Verdict)
}

// Report is what held at a moment.
type Report struct {
	At       time.Time
	Findings finding.List
	Verdicts []finding.Verdict
	Counts   stray.Counts
	// Changes are what is otherwise than was told: what is worse at once, and what is better when it has stayed so.
	Changes []Change
}

// Reached tells whether a finding is at least as severe.
func (r Report) Reached(severity finding.Severity) bool {
	for _, f := range r.Findings {
		if f.Severity.AtLeast(severity) {
			return true
		}
	}
	return false
}

// Sink is told each moment.
type Sink interface {
	Tell(ctx context.Context, report Report) error
}

// Watch watches one instance.
type Watch struct {
	Options
	alarm   *stray.Alarm
	pods    *cluster.Mirror[cluster.Pod]
	jobs    *cluster.Mirror[cluster.Job]
	plank   *leader
	sources *sources
	missing *asker
	polled  *polls
	ledger  ledger
	// changed holds one word: something is otherwise.
	changed chan struct{}
	began   time.Time
}

// New makes a watch, which asks nobody before Run.
func New(options Options) *Watch {
	w := &Watch{Options: options, alarm: stray.New(options.Instance), changed: make(chan struct{}, 1)}
	if w.Warn == nil {
		w.Warn = func(string) {}
	}
	w.jobs = cluster.MirrorJobs(w.ProwJobs, []string{w.Instance.ProwJobs}, w.jobChanged)
	w.pods = cluster.MirrorPods(w.Options.Pods, w.Named, w.podChanged)
	w.plank = &leader{cluster: w.ProwJobs, namespace: w.Instance.ProwJobs, since: w.RolloutSince,
		changed: w.wake}
	w.sources = &sources{cluster: w.ProwJobs, instance: w.Instance, configMap: w.ConfigMap, changed: w.wake}
	w.missing = newAsker(w.Options.Pods, w.Instance.Pods, w.wake)
	w.ledger.settle = w.Settle
	w.polled = &polls{poller: w.Poller, every: w.Every, clock: w.Clock, changed: w.wake}
	return w
}

// wake has the rules asked soon.
func (w *Watch) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *Watch) jobChanged(change cluster.Change[cluster.Job]) {
	if change.News == cluster.Gone || change.News == cluster.Unreadable {
		w.alarm.JobGone(change.Object)
	}
	w.wake()
}

func (w *Watch) podChanged(change cluster.Change[cluster.Pod]) {
	if change.News == cluster.Gone {
		pod := change.Object
		if part := change.Malformed.Pod; part != nil {
			pod = *part
		}
		w.alarm.PodGone(pod, w.jobs)
	}
	w.wake()
}

// Run watches until ctx ends, and gives what held last. The error is a failure of the watch itself; that ctx ends is
// none.
func (w *Watch) Run(ctx context.Context) (Report, error) {
	inner, stop := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	for _, one := range []func(context.Context) error{
		w.pods.Run, w.jobs.Run, w.plank.run, w.sources.run, w.missing.run, w.polled.run,
	} {
		running.Go(func() {
			// What ends with another error has nothing to see any more; its health says so.
			var crashed *apierr.PanicError
			if err := apierr.Recovered(func() error { return one(inner) }); errors.As(err, &crashed) {
				stop(err)
			}
		})
	}
	report, err := w.loop(inner)
	stop(nil)
	running.Wait()
	if ctx.Err() != nil {
		err = nil // it was asked to end
	}
	return report, err
}

func (w *Watch) loop(ctx context.Context) (report Report, _ error) {
	w.began = w.Clock.Now()
	if err := w.settle(ctx); err != nil {
		return report, err
	}
	for {
		asked := w.Clock.Now()
		next, err := w.evaluate()
		if err != nil {
			return report, err
		}
		report = next
		took := w.Clock.Since(asked)
		w.tell(ctx, report)
		if w.Until != "" && report.Reached(w.Until) {
			return report, nil
		}
		if err := w.pause(ctx, max(atMost, idle*took)); err != nil {
			return report, err
		}
	}
}

// settle waits until the first lists are complete and all else was read once, or take too long.
func (w *Watch) settle(ctx context.Context) error {
	settled := func() bool {
		return w.pods.Health().Current() && w.jobs.Health().Current() && w.plank.wasRead() && w.sources.wasRead()
	}
	for w.Clock.Since(w.began) < listing && !settled() {
		if err := clock.Sleep(ctx, w.Clock, settling); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for some time, and then until something is otherwise or it is time again.
func (w *Watch) pause(ctx context.Context, least time.Duration) error {
	if err := clock.Sleep(ctx, w.Clock, least); err != nil {
		return err
	}
	timer := w.Clock.NewTimer(max(0, atLeast-least))
	defer timer.Stop()
	select {
	case <-w.changed:
	case <-timer.C():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	err := clock.Sleep(ctx, w.Clock, gathering)
	select {
	case <-w.changed: // gathered too
	default:
	}
	return err
}

func (w *Watch) evaluate() (Report, error) {
	now := w.Clock.Now()
	missing, lack := w.missing.known()
	result, err := w.alarm.Evaluate(stray.View{
		Now: now, Pods: w.pods, Jobs: w.jobs, PodHealth: w.pods.Health(), JobHealth: w.jobs.Health(),
		MalformedPods: w.pods.Malformed(), MalformedJobs: w.jobs.Malformed(), Rollout: w.plank.rollout(),
		Missing: missing, MissingLack: lack, Sources: w.sources.known(),
	})
	if err != nil {
		return Report{}, err
	}
	w.missing.ask(result.Waiting)
	polled := w.polled.last()
	maps.Copy(result.Blind, polled.blind)
	report := Report{At: now, Counts: result.Counts, Findings: append(result.Findings, polled.findings...),
		Verdicts: append(result.Verdicts, polled.verdicts...)}
	if err := report.Findings.Validate(); err != nil {
		return Report{}, fmt.Errorf("findings of two sources: %w", err)
	}
	w.ledger.update(&report, result.Blind, polled.rounds)
	return report, nil
}

func (w *Watch) tell(ctx context.Context, report Report) {
	for _, sink := range w.Sinks {
		if err := sink.Tell(ctx, report); err != nil && ctx.Err() == nil {
			w.Warn(err.Error())
		}
	}
}
