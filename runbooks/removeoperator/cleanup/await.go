package cleanup

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// resync is how long a watch is believed before objects are listed again: a watch can
// die without a word.
const resync = time.Minute

// rewatchPause is the time after the nth watch that ended early.
func rewatchPause(n int) time.Duration {
	return backoff.Exponential{First: 100 * time.Millisecond, Longest: 5 * time.Second, Factor: 2}.Pause(n, 0)
}

// pollPause is the time between two reads of a few objects that are going.
func pollPause(passed time.Duration) time.Duration {
	return backoff.Polling{First: 250 * time.Millisecond, Longest: 5 * time.Second, Share: 0.1}.Next(passed, 0)
}

// AwaitGone waits until no object of the definitions is left, by one watch of each
// that carries metadata only. It counts and keeps nothing of an object.
func (o *Operator) AwaitGone(ctx context.Context, of []Definition, report func(runbook.Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := &countdown{steady: steady{clock: o.Clock, report: report}, of: of, counts: make([]int, len(of))}
	var team sync.WaitGroup
	for i, definition := range of {
		team.Go(func() {
			err := apierr.Recovered(func() error {
				return o.countDown(ctx, definition, func(n int) { left.set(i, n) })
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	team.Wait()
	return context.Cause(ctx)
}

// remaining is how many objects are left of each definition.
type countdown struct {
	steady
	of []Definition

	mu     sync.Mutex
	counts []int
}

func (r *countdown) set(i, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[i] = n
	r.say(r.progress)
}

func (r *countdown) progress() runbook.Progress {
	total, told := 0, runbook.Progress{}
	for i, n := range r.counts {
		if total += n; n > 0 {
			told.Details = append(told.Details, fmt.Sprintf("%s: %d left", r.of[i].Defines, n))
		}
	}
	told.Text = count(total, "object") + " left"
	return told
}

// countDown tells how many objects a definition has until it has none.
func (o *Operator) countDown(ctx context.Context, of Definition, report func(n int)) error {
	for n := 1; ; n++ {
		there, version, err := o.count(ctx, of)
		if err != nil {
			return err
		}
		report(there)
		if there == 0 || version != "" && o.watchCount(ctx, of.Defines, version, there, report) {
			return nil
		}
		if err := clock.Sleep(ctx, o.Clock, rewatchPause(n)); err != nil {
			return err
		}
	}
}

func (o *Operator) count(ctx context.Context, of Definition) (n int, version string, err error) {
	err = kube.RetryExpired(func() (err error) {
		n = 0
		version, err = o.eachOf(ctx, of, func(*metav1.PartialObjectMetadata) error { n++; return nil })
		return err
	})
	return n, version, err
}

// watchCount follows the number of objects from a version on, and tells whether it
// came to zero. A watch can die without a word, so it is believed for a while only.
func (o *Operator) watchCount(
	ctx context.Context, resource kube.Resource, version string, n int, report func(n int),
) bool {
	limited, cancel := clock.WithTimeout(ctx, o.Clock, resync)
	defer cancel()
	watcher, err := o.Metadata.Resource(resource.GroupVersionResource).
		Watch(limited, metav1.ListOptions{ResourceVersion: version})
	if err != nil {
		return false // the next list tells what is wrong
	}
	defer watcher.Stop()
	for {
		select {
		case <-limited.Done():
			return false
		case event, open := <-watcher.ResultChan():
			switch {
			case !open || event.Type == watch.Error:
				return false
			case event.Type == watch.Added:
				n++
			case event.Type == watch.Deleted:
				n--
			default:
				continue
			}
			if report(n); n == 0 {
				return true
			}
		}
	}
}

// AwaitAllGone waits until none of a few objects is left, the very ones.
func (o *Operator) AwaitAllGone(ctx context.Context, objects []kube.Object, report func(runbook.Progress)) error {
	start, total := o.Clock.Now(), len(objects)
	for {
		left, err := o.remainingOf(ctx, objects)
		if err != nil || len(left) == 0 {
			return err
		}
		objects = left
		if report != nil {
			report(runbook.Progress{Text: fmt.Sprintf("%d of %d objects gone", total-len(left), total),
				Details: []string{"waiting for " + left[0].String()}})
		}
		if err := clock.Sleep(ctx, o.Clock, pollPause(o.Clock.Since(start))); err != nil {
			return err
		}
	}
}

func (o *Operator) remainingOf(ctx context.Context, objects []kube.Object) ([]kube.Object, error) {
	var left []kube.Object
	for _, object := range objects {
		there, _, err := o.State(ctx, object)
		if err != nil {
			return nil, err
		}
		if there {
			left = append(left, object)
		}
	}
	return left, nil
}

// Within calls await and lets it take a time at the most: that it took longer is no
// error.
func (o *Operator) Within(ctx context.Context, d time.Duration, await func(context.Context) error) error {
	limited, cancel := clock.WithTimeout(ctx, o.Clock, d)
	defer cancel()
	err := await(limited)
	if context.Cause(ctx) == nil && context.Cause(limited) != nil {
		return nil
	}
	return err
}
