package azuresim

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// watcherRoom is how many events a watcher may fall behind. One that falls further behind is closed, as the API server
// does; its client watches again from the resourceVersion that it knows.
const watcherRoom = 1024

// Watch implements ObjectTracker. From a resourceVersion it first sends what changed since, and answers 410 Expired when
// that is no longer known; without one, or from "0", it first sends everything there is.
func (o *objects) Watch(resource schema.GroupVersionResource, namespace string, options ...metav1.ListOptions) (watch.Interface, error) {
	wanted, err := newSelection(resource, namespace, options)
	if err != nil {
		return nil, err
	}
	from := ""
	if len(options) > 0 {
		from = options[0].ResourceVersion
	}
	var missed []watch.Event
	if from == "" || from == "0" {
		for _, object := range o.sorted(resource, namespace) {
			if wanted.has(object) {
				missed = append(missed, watch.Event{Type: watch.Added, Object: object.DeepCopyObject()})
			}
		}
	} else if missed, err = o.since(from, wanted); err != nil {
		return nil, err
	}
	w := &watcher{wanted: wanted, events: make(chan watch.Event, len(missed)+watcherRoom)}
	for _, event := range missed {
		w.events <- event
	}
	o.watchers = append(o.watchers, w)
	return w, nil
}

// since replays the history after a revision.
func (o *objects) since(from string, wanted selection) ([]watch.Event, error) {
	revision, err := strconv.ParseInt(from, 10, 64)
	if err != nil || revision < 0 {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version %q", from))
	}
	if revision < o.forgotten {
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", revision, o.forgotten))
	}
	var missed []watch.Event
	for _, c := range o.history {
		if event, concerns := wanted.eventOf(c); concerns && c.revision > revision {
			missed = append(missed, event)
		}
	}
	return missed, nil
}

// eventOf is what a change looks like to a selection: an object that no longer matches is gone, one that begins to match
// is new.
func (s selection) eventOf(c change) (watch.Event, bool) {
	if c.resource != s.resource {
		return watch.Event{}, false
	}
	is := c.kind != watch.Deleted && s.has(c.object)
	was := c.before != nil && s.has(c.before)
	kind := watch.Modified
	switch {
	case !is && !was:
		return watch.Event{}, false
	case !was:
		kind = watch.Added
	case !is:
		kind = watch.Deleted
	}
	return watch.Event{Type: kind, Object: c.object.DeepCopyObject()}, true
}

// watcher is one open watch. It needs no goroutine: its channel has room, and it is closed when the room is used up.
type watcher struct {
	wanted selection
	events chan watch.Event

	mutex  sync.Mutex
	closed bool
}

func (w *watcher) tell(c change) {
	event, concerns := w.wanted.eventOf(c)
	if !concerns {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.closed {
		return
	}
	select {
	case w.events <- event:
	default:
		w.close()
	}
}

func (w *watcher) close() {
	if !w.closed {
		w.closed = true
		close(w.events)
	}
}

func (w *watcher) stopped() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.closed
}

// Stop implements watch.Interface.
func (w *watcher) Stop() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.close()
}

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// closeWatches ends every watch.
func (o *objects) closeWatches() {
	for _, w := range o.watchers {
		w.Stop()
	}
	o.watchers = nil
}

// each calls do with the current state of every object of a resource; do may change the store.
func each[T runtime.Object](o *objects, resource schema.GroupVersionResource, do func(T)) {
	for _, object := range slices.Clone(o.sorted(resource, "")) {
		if typed, ok := object.(T); ok {
			do(typed)
		}
	}
}

// edit stores a changed copy of an object.
func edit[T runtime.Object](o *objects, resource schema.GroupVersionResource, object T, change func(T)) {
	copied, ok := object.DeepCopyObject().(T)
	if !ok {
		return // a copy has the type of its original
	}
	change(copied)
	head, err := meta.Accessor(copied)
	if err != nil {
		return // every API object has metadata
	}
	_ = o.Update(resource, copied, head.GetNamespace()) // it exists and is the latest
}
