package managed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"salve/internal/backoff"
	"salve/internal/clock"
)

// retryPause is the time after the nth failure of a change.
func retryPause(n int) time.Duration {
	return backoff.Exponential{First: 100 * time.Millisecond, Longest: 2 * time.Second, Factor: 1.6}.Pause(n, 0)
}

// errForeign refuses to touch what somebody else made.
var errForeign = errors.New("it is there already, and was not made for the embedded Azure")

// change is one step towards what the embedded Azure says. Applying it twice comes to the same.
type change struct {
	doing string
	apply func(context.Context) error
}

// queue applies changes one after the other, so that a node is never removed before it was added.
type queue struct {
	clock clock.Clock
	log   *slog.Logger
	some  chan struct{}

	mutex   sync.Mutex
	waiting []change
	// failing is why the first one that waits has not come through yet; refused are those that never will.
	failing error
	refused []error
}

func newQueue(clk clock.Clock, log *slog.Logger) *queue {
	return &queue{clock: clk, log: log, some: make(chan struct{}, 1)}
}

// add enters a change and returns at once.
func (q *queue) add(doing string, apply func(context.Context) error) {
	q.mutex.Lock()
	q.waiting = append(q.waiting, change{doing, apply})
	q.mutex.Unlock()
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// work applies what comes until ctx ends.
func (q *queue) work(ctx context.Context) {
	for ctx.Err() == nil {
		next, ok := q.first()
		if !ok {
			select {
			case <-q.some:
			case <-ctx.Done():
			}
			continue
		}
		q.finish(q.insist(ctx, next))
	}
}

func (q *queue) first() (change, bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.waiting) == 0 {
		return change{}, false
	}
	return q.waiting[0], true
}

// insist applies a change until it is done, refused for good, or ctx ends.
func (q *queue) insist(ctx context.Context, c change) error {
	for n := 1; ; n++ {
		err := backoff.Once(ctx, q.clock, c.apply)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("%s: %w", c.doing, err)
		if forGood(err) {
			q.log.Error("the given cluster refused a change", "error", err)
			return err
		}
		q.fails(err)
		if n == 1 {
			q.log.Warn("a change of the given cluster is tried again until it is done", "error", err)
		}
		if clock.Sleep(ctx, q.clock, retryPause(n)) != nil {
			return err
		}
	}
}

// forGood tells refusals that trying again does not change. Lack of rights is none of them: an API server that just
// came back does not know its roles yet.
func forGood(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || errors.Is(err, errForeign)
}

func (q *queue) fails(err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.failing = err
}

func (q *queue) finish(err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.waiting, q.failing = q.waiting[1:], nil
	if err != nil {
		q.refused = append(q.refused, err)
	}
}

// drained fails as long as something waits, and for good once something was refused.
func (q *queue) drained(context.Context) error {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	switch {
	case len(q.refused) > 0:
		return errors.Join(q.refused...)
	case q.failing != nil:
		return q.failing
	case len(q.waiting) > 0:
		return fmt.Errorf("%d changes are still to be made", len(q.waiting))
	}
	return nil
}
