package kube

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/pace"
	"salve/runbook"
)

// untilGone is the schedule by which few objects are looked at until they are gone.
var untilGone = pace.Polling{First: 250 * time.Millisecond, Longest: 5 * time.Second, Share: 0.1}

// AwaitGone waits until no object of the definitions is left, by one watch of each
// that carries metadata only. It counts and keeps nothing of an object.
func (c *Cluster) AwaitGone(ctx context.Context, of []Definition, report func(runbook.Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := &remaining{steady: steady{clock: c.Clock, report: report}, of: of, counts: make([]int, len(of))}
	var team sync.WaitGroup
	for i, definition := range of {
		team.Go(func() {
			if err := c.countDown(ctx, definition, func(n int) { left.set(i, n) }); err != nil {
				cancel(err)
			}
		})
	}
	team.Wait()
	return context.Cause(ctx)
}

// remaining is how many objects are left of each definition.
type remaining struct {
	steady
	of []Definition

	mu     sync.Mutex
	counts []int
}

func (r *remaining) set(i, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[i] = n
	r.say(r.progress)
}

func (r *remaining) progress() runbook.Progress {
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
func (c *Cluster) countDown(ctx context.Context, of Definition, tell func(n int)) error {
	for n := 1; ; n++ {
		there, version, err := c.count(ctx, of)
		if err != nil {
			return err
		}
		tell(there)
		if there == 0 || version != "" && c.watchCount(ctx, of.Defines, version, there, tell) {
			return nil
		}
		if err := pace.Pause(ctx, c.Clock, watchAgain.Pause(n, 0)); err != nil {
			return err
		}
	}
}

func (c *Cluster) count(ctx context.Context, of Definition) (n int, version string, err error) {
	err = Afresh(func() (err error) {
		n = 0
		version, err = c.EachOf(ctx, of, func(*metav1.PartialObjectMetadata) error { n++; return nil })
		return err
	})
	return n, version, err
}

// watchCount follows the number of objects from a version on, and tells whether it
// came to zero. A watch can die without a word, so it is believed for a while only.
func (c *Cluster) watchCount(ctx context.Context, resource Resource, version string, n int, tell func(n int)) bool {
	limited, cancel := pace.WithTimeout(ctx, c.Clock, resync)
	defer cancel()
	watcher, err := c.Metadata.Resource(resource.GroupVersionResource).Watch(limited, metav1.ListOptions{ResourceVersion: version})
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
			if tell(n); n == 0 {
				return true
			}
		}
	}
}

// AwaitAllGone waits until none of a few objects is left, the very ones.
func (c *Cluster) AwaitAllGone(ctx context.Context, objects []Object, report func(runbook.Progress)) error {
	began, total := c.Clock.Now(), len(objects)
	for {
		left, err := c.stillThere(ctx, objects)
		if err != nil || len(left) == 0 {
			return err
		}
		objects = left
		if report != nil {
			report(runbook.Progress{Text: fmt.Sprintf("%d of %d objects gone", total-len(left), total), Details: []string{"waiting for " + left[0].String()}})
		}
		if err := pace.Pause(ctx, c.Clock, untilGone.Next(c.Clock.Since(began), 0)); err != nil {
			return err
		}
	}
}

func (c *Cluster) stillThere(ctx context.Context, objects []Object) ([]Object, error) {
	var left []Object
	for _, object := range objects {
		there, _, err := c.State(ctx, object)
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
func (c *Cluster) Within(ctx context.Context, d time.Duration, await func(context.Context) error) error {
	limited, cancel := pace.WithTimeout(ctx, c.Clock, d)
	defer cancel()
	err := await(limited)
	if context.Cause(ctx) == nil && context.Cause(limited) != nil {
		return nil
	}
	return err
}
