package apiserver

import (
	"fmt"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// watcherRoom is how many events a watcher may fall behind. One that falls further behind is closed, as the API server
// does; its client watches again from the resourceVersion that it knows.
const watcherRoom = 1024

// watch opens a watch. From a resourceVersion it first sends what changed since, and fails with 410 Expired when that
// is no longer known; without one, or from "0", it first sends everything there is.
func (s *Store) watch(wanted selection, options metav1.ListOptions) (*watcher, error) {
	var missed []watch.Event
	var err error
	if from := options.ResourceVersion; from == "" || from == "0" {
		for _, object := range s.All(wanted.resource, wanted.namespace) {
			if wanted.has(object) {
				missed = append(missed, watch.Event{Type: watch.Added, Object: object})
			}
		}
	} else if missed, err = s.since(from, wanted); err != nil {
		return nil, err
	}
	w := &watcher{wanted: wanted, events: make(chan watch.Event, len(missed)+watcherRoom)}
	for _, event := range missed {
		w.events <- event
	}
	s.watchers = append(s.watchers, w)
	return w, nil
}

// since replays the history after a revision.
func (s *Store) since(from string, wanted selection) ([]watch.Event, error) {
	revision, err := strconv.ParseInt(from, 10, 64)
	if err != nil || revision < 0 {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version %q", from))
	}
	if err := s.remembers(revision); err != nil {
		return nil, err
	}
	var missed []watch.Event
	for _, c := range s.history {
		if event, concerns := wanted.eventOf(c); concerns && c.revision > revision {
			missed = append(missed, event)
		}
	}
	return missed, nil
}

func (s *Store) remembers(revision int64) error {
	if revision < s.forgotten {
		return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", revision, s.forgotten))
	}
	return nil
}

// eventOf is what a change looks like to a selection: an object that no longer matches is gone, one that begins to
// match is new.
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
	return watch.Event{Type: kind, Object: c.object}, true
}

// watcher is one open watch. It needs no goroutine: its channel has room, and it is closed when the room is used up.
type watcher struct {
	wanted selection
	events chan watch.Event

	mutex  sync.Mutex
	closed bool
}

func (w *watcher) send(c change) {
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

func (w *watcher) stop() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.close()
}

// CloseWatches ends every watch.
func (s *Store) CloseWatches() {
	for _, w := range s.watchers {
		w.stop()
	}
	s.watchers = nil
}
