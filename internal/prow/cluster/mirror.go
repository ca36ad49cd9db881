package cluster

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/kube"
)

// News is what a change is.
type News int

const (
	// Seen objects are there, or have changed.
	Seen News = iota
	// Gone objects are not there any more.
	Gone
	// Unreadable objects are there and malformed.
	Unreadable
	// Unseen objects may be there: nobody looks where they are any more.
	Unseen
)

// Change is one change of a mirror.
type Change[T any] struct {
	News News
	// Object is what was Seen, or what was known before of what is Gone, Unseen or Unreadable: zero where nothing was.
	Object T
	// Malformed is what is Unreadable, or was when it is Gone.
	Malformed Malformed
}

// Mirror keeps the objects of a kind as they were last seen: by one list, and then by one watch at a time, gone on with
// where the last one ended. It keeps their few fields alone. It is safe for concurrent use.
type Mirror[T any] struct {
	cluster *kube.Cluster
	kind    kind[T]
	named   []string
	changed func(Change[T])

	mu        sync.RWMutex
	objects   map[key]entry[T]
	malformed map[key]Malformed
	refused   error
	feeds     map[string]*health
}

type key struct{ namespace, name string }

type entry[T any] struct {
	object  T
	version string
}

// health is how well a namespace is seen, or all of them.
type health struct {
	listed bool
	// since is from when on it is not current, and why.
	since time.Time
	err   error
}

// MirrorJobs makes a mirror of the ProwJobs of all namespaces, or of the named ones where all are refused. changed is
// told each change as it is made, one at a time; it may ask the mirror, and must not take long. It may be nil.
func MirrorJobs(c *kube.Cluster, named []string, changed func(Change[Job])) *Mirror[Job] {
	return newMirror(c, jobs(c), named, changed)
}

// MirrorPods makes a mirror of the pods with Prow's label, as MirrorJobs does.
func MirrorPods(c *kube.Cluster, named []string, changed func(Change[Pod])) *Mirror[Pod] {
	return newMirror(c, pods(c), named, changed)
}

func newMirror[T any](c *kube.Cluster, k kind[T], named []string, changed func(Change[T])) *Mirror[T] {
	if changed == nil {
		changed = func(Change[T]) {}
	}
	return &Mirror[T]{
		cluster: c, kind: k, named: slices.Compact(slices.Sorted(slices.Values(named))), changed: changed,
		objects: map[key]entry[T]{}, malformed: map[key]Malformed{}, feeds: map[string]*health{},
	}
}

// Run keeps the mirror until ctx ends, whose cause it gives. It ends earlier when all namespaces are refused and none
// is named. Other errors are waited out; Health tells them.
func (m *Mirror[T]) Run(ctx context.Context) error {
	changes := make(chan Change[T])
	var telling sync.WaitGroup
	telling.Go(func() {
		for change := range changes {
			m.changed(change)
		}
	})
	err := m.run(ctx, changes)
	close(changes)
	telling.Wait()
	return err
}

func (m *Mirror[T]) run(ctx context.Context, changes chan<- Change[T]) error {
	err := m.feed(metav1.NamespaceAll, changes).run(ctx)
	if apierr.ClassOf(err) != apierr.Denied || len(m.named) == 0 {
		return err
	}
	for _, change := range m.narrow(err) {
		changes <- change
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var feeds sync.WaitGroup
	for _, namespace := range m.named {
		feeds.Go(func() {
			if err := apierr.Recovered(func() error { return m.feed(namespace, changes).run(ctx) }); err != nil {
				stop(err)
			}
		})
	}
	feeds.Wait()
	return context.Cause(ctx)
}

// narrow goes from all namespaces to the named ones.
func (m *Mirror[T]) narrow(refused error) (unseen []Change[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = refused
	delete(m.feeds, metav1.NamespaceAll)
	for at, known := range m.objects {
		if !slices.Contains(m.named, at.namespace) {
			delete(m.objects, at)
			unseen = append(unseen, Change[T]{News: Unseen, Object: known.object})
		}
	}
	maps.DeleteFunc(m.malformed, func(at key, _ Malformed) bool { return !slices.Contains(m.named, at.namespace) })
	return unseen
}

// Get is an object as it was last seen.
func (m *Mirror[T]) Get(namespace, name string) (object T, found bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	known, found := m.objects[key{namespace, name}]
	return known.object, found
}

// All visits the objects as they were last seen, in no order. The mirror stands still meanwhile.
func (m *Mirror[T]) All() iter.Seq[T] {
	return func(visit func(T) bool) {
		m.mu.RLock()
		defer m.mu.RUnlock()
		for _, known := range m.objects {
			if !visit(known.object) {
				return
			}
		}
	}
}

// Len is the number of objects.
func (m *Mirror[T]) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.objects)
}

// Malformed are the objects that can't be read, sorted.
func (m *Mirror[T]) Malformed() []Malformed {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.SortedFunc(maps.Values(m.malformed), func(a, b Malformed) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
}

// Health is how well a mirror sees.
type Health struct {
	Coverage Coverage
	// Err is why changes are not seen at the moment somewhere that was looked into before, since Since; nil when the
	// mirror is current there.
	Err   error
	Since time.Time
}

// Current tells whether the mirror was filled, and nothing interrupts it.
func (h Health) Current() bool {
	return h.Err == nil && (h.Coverage.All() || len(h.Coverage.Namespaces) > 0)
}

// Health is how well the mirror sees now. Before the first list is complete it is not current.
func (m *Mirror[T]) Health() Health {
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := Health{Coverage: Coverage{Refused: m.refused, Unseen: map[string]error{}}}
	for namespace, feed := range m.feeds {
		switch {
		case !feed.listed && m.refused != nil:
			now.Coverage.Unseen[namespace] = feed.err
			continue
		case m.refused != nil:
			now.Coverage.Namespaces = append(now.Coverage.Namespaces, namespace)
		}
		if feed.err != nil && (now.Err == nil || feed.since.Before(now.Since)) {
			now.Err, now.Since = feed.err, feed.since
		}
	}
	if len(m.feeds) == 0 {
		now.Err = errNotListed
	}
	slices.Sort(now.Coverage.Namespaces)
	return now
}
