package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/kube"
)

// rewatchPause is the time after the nth watch that ended early.
func rewatchPause(n int, retryAfter time.Duration) time.Duration {
	return backoff.Exponential{First: 100 * time.Millisecond, Longest: 5 * time.Second, Factor: 2}.Pause(n, retryAfter)
}

const (
	// silence is how long a watch may bring nothing, not even a bookmark, which the API server sends about every minute,
	// before it is taken for dead and opened again where it was.
	silence = 3 * time.Minute
	// refusedPause is the time after which a named namespace that is refused is asked for again: rights may be granted.
	refusedPause = time.Minute
	// refusals are how often all namespaces may be refused, one after the other, once they were seen: a token that is
	// renewed too late is no reason to look away from them.
	refusals = 3
)

var (
	errSilent    = errors.New("the watch is silent")
	errNotListed = errors.New("not listed yet")
)

// feed lists and watches one namespace, or all.
type feed[T any] struct {
	mirror    *Mirror[T]
	namespace string
	changes   chan<- Change[T]
	// version is where to go on; empty when the objects have to be listed.
	version string
}

func (m *Mirror[T]) feed(namespace string, changes chan<- Change[T]) *feed[T] {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.feeds[namespace] = &health{since: m.cluster.Clock.Now(), err: errNotListed}
	return &feed[T]{mirror: m, namespace: namespace, changes: changes}
}

// run follows the objects until ctx ends, or until all namespaces are refused.
func (f *feed[T]) run(ctx context.Context) error {
	refused := 0
	for n := 1; ; n++ {
		alive, err := f.follow(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if alive {
			n, refused = 1, 0
		}
		pause := rewatchPause(n, apierr.RetryAfter(err))
		if err != nil {
			listed := f.interrupted(err)
			if apierr.ClassOf(err) == apierr.Denied {
				if refused++; f.namespace == metav1.NamespaceAll && (!listed || refused == refusals) {
					return err
				}
				pause = refusedPause
			}
		}
		if err := clock.Sleep(ctx, f.mirror.cluster.Clock, pause); err != nil {
			return err
		}
	}
}

// interrupted says that changes are unseen, and tells whether any were seen before.
func (f *feed[T]) interrupted(err error) (listed bool) {
	f.mirror.mu.Lock()
	defer f.mirror.mu.Unlock()
	state := f.mirror.feeds[f.namespace]
	if state.err == nil {
		state.since = f.mirror.cluster.Clock.Now()
	}
	state.err = err
	return state.listed
}

// current says that nothing is unseen: the list is complete, and the watch goes on from it.
func (f *feed[T]) current() {
	f.mirror.mu.Lock()
	defer f.mirror.mu.Unlock()
	*f.mirror.feeds[f.namespace] = health{listed: true}
}

// follow lists, if it has to, and watches until the watch ends. It tells whether anything was seen.
func (f *feed[T]) follow(ctx context.Context) (alive bool, _ error) {
	if f.version == "" {
		if err := f.list(ctx); err != nil {
			return false, err
		}
		alive = true
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := f.mirror.cluster.Clock.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	watcher, err := f.mirror.kind.watch(limited, f.namespace, metav1.ListOptions{
		LabelSelector: f.mirror.kind.selector, ResourceVersion: f.version, AllowWatchBookmarks: true,
	})
	if err != nil {
		return alive, f.lost(err)
	}
	defer watcher.Stop()
	f.current()
	for {
		select {
		case <-limited.Done():
			return alive, nil
		case event, open := <-watcher.ResultChan():
			if !open {
				return alive, nil
			}
			alarm.Reset(silence)
			if err := f.take(ctx, event); err != nil {
				return alive, f.lost(err)
			}
			alive = true
		}
	}
}

// list takes the objects that are there. Those that are not there any more are gone once the list is complete.
func (f *feed[T]) list(ctx context.Context) error {
	m, there := f.mirror, map[key]bool{}
	version, err := m.kind.each(ctx, m.cluster, f.namespace, func() { clear(there) }, func(object metav1.Object) {
		there[key{object.GetNamespace(), object.GetName()}] = true
		f.seen(ctx, object)
	})
	if err != nil {
		return err
	}
	gone := f.missing(there)
	if len(there) == 0 && len(gone) > 0 {
		if err := f.confirm(ctx, gone[0]); err != nil {
			return err
		}
	}
	for _, at := range gone {
		f.gone(ctx, at)
	}
	f.version = version
	return nil
}

// missing are the known objects of the feed that are not there.
func (f *feed[T]) missing(there map[key]bool) (missing []key) {
	f.mirror.mu.RLock()
	defer f.mirror.mu.RUnlock()
	add := func(at key) {
		if !there[at] && (f.namespace == metav1.NamespaceAll || f.namespace == at.namespace) {
			missing = append(missing, at)
		}
	}
	for at := range f.mirror.objects {
		add(at)
	}
	for at := range f.mirror.malformed {
		add(at)
	}
	return missing
}

// confirm asks for one of the objects that an empty list would say are all gone: an empty answer alone is none.
func (f *feed[T]) confirm(ctx context.Context, at key) error {
	what := fmt.Sprintf("reading %s/%s, one of the %s that an empty list left out", at.namespace, at.name,
		f.mirror.kind.name)
	err := f.mirror.cluster.Read(ctx, what, func(ctx context.Context) error {
		return f.mirror.kind.get(ctx, at.namespace, at.name)
	})
	switch {
	case kube.IsNotFound(err):
		return nil
	case err == nil:
		return apierr.New(apierr.Transient, "the list of the %s of %s is empty, and %s/%s is there", f.mirror.kind.name,
			orAll(f.namespace), at.namespace, at.name)
	}
	return err
}

// take passes on what a watch brings.
func (f *feed[T]) take(ctx context.Context, event watch.Event) error {
	object, ok := event.Object.(metav1.Object)
	if event.Type == watch.Error || !ok {
		return apierrors.FromObject(event.Object)
	}
	switch event.Type {
	case watch.Added, watch.Modified:
		f.seen(ctx, object)
	case watch.Deleted:
		f.gone(ctx, key{object.GetNamespace(), object.GetName()})
	default: // a bookmark
	}
	f.version = object.GetResourceVersion()
	return nil
}

// seen keeps an object. One that is known in this version is no news.
func (f *feed[T]) seen(ctx context.Context, object metav1.Object) {
	m, at := f.mirror, key{intern(object.GetNamespace()), object.GetName()}
	read, err := m.kind.read(object)
	change := Change[T]{News: Seen, Object: read}
	m.mu.Lock()
	known, found := m.objects[at]
	_, bad := m.malformed[at]
	switch {
	case err != nil:
		change = Change[T]{News: Unreadable, Object: known.object, Malformed: malformed(object, read, err)}
		m.malformed[at] = change.Malformed
		delete(m.objects, at)
	case found && !bad && known.version == object.GetResourceVersion():
		m.mu.Unlock()
		return
	default:
		m.objects[at] = entry[T]{read, object.GetResourceVersion()}
		delete(m.malformed, at)
	}
	m.mu.Unlock()
	f.tell(ctx, change)
}

func (f *feed[T]) gone(ctx context.Context, at key) {
	m := f.mirror
	m.mu.Lock()
	known, found := m.objects[at]
	bad, wasBad := m.malformed[at]
	delete(m.objects, at)
	delete(m.malformed, at)
	m.mu.Unlock()
	if found || wasBad {
		f.tell(ctx, Change[T]{News: Gone, Object: known.object, Malformed: bad})
	}
}

// tell passes a change on; that ctx has ended ends the feed soon.
func (f *feed[T]) tell(ctx context.Context, change Change[T]) {
	select {
	case f.changes <- change:
	case <-ctx.Done():
	}
}

// lost evaluates the end of a watch. One that the API server can't go on with, because the past is not kept for so
// long, is no error: the objects are listed anew.
func (f *feed[T]) lost(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		f.version = ""
		return nil
	}
	return fmt.Errorf("watching the %s of %s: %w", f.mirror.kind.name, orAll(f.namespace), kube.Classify(err))
}
