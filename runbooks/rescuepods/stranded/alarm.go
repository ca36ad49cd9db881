package stranded

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"salve/internal/apierr"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// gracePeriod is how long a pod that waits elsewhere has for what it needs to be made
// after it, and how long others have to join it, before it is evaluated.
const gracePeriod = 10 * time.Second

// changesHeld is how many changes may wait while pods are evaluated.
const changesHeld = 500

// Error is the alarm: pods are stranded.
type Error struct {
	Pods    []Misplaced
	Summary Summary
}

func (e *Error) Error() string { return e.Summary.String() }

// AwaitStranded watches the pods of the selector, in all namespaces, and returns
// *Error as soon as some of them are stranded elsewhere than in the expected namespaces. It
// says a line for each change. What it keeps is a few bytes of each live pod. A
// transient error is said and waited out; any other says that they can't be seen.
func (s *Search) AwaitStranded(ctx context.Context, say func(line string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	changes := make(chan podChange, changesHeld)
	var following sync.WaitGroup
	following.Go(func() { cancel(apierr.Recovered(func() error { return s.follow(ctx, changes) })) })
	defer following.Wait()
	defer cancel(nil)
	w := &watcher{search: s, say: say, timer: s.Clock.NewTimer(time.Hour)}
	w.forget()
	defer w.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case change := <-changes:
			w.take(change)
		case <-w.timer.C():
			if err := w.evaluate(ctx); err != nil {
				return err
			}
		}
	}
}

// watcher remembers of each pod whether it is live at home or away, and which of those
// that are away wait.
type watcher struct {
	search *Search
	say    func(string)
	timer  clock.Timer

	current bool
	home    map[types.UID]bool
	away    map[types.UID]bool
	waiting map[types.UID]Pod
	// cleared are those that were seen to wait elsewhere for something else, and for
	// what.
	cleared map[types.UID]string
	// armed says that those that wait are evaluated when the timer is over.
	armed bool
	// liveBefore counts the live pods at home when the first began to wait elsewhere.
	liveBefore int
	// blind says that it was said that it can't be seen what pods wait for.
	blind bool
}

func (w *watcher) forget() {
	w.home, w.away = map[types.UID]bool{}, map[types.UID]bool{}
	w.waiting, w.cleared = map[types.UID]Pod{}, map[types.UID]string{}
	w.current = false
}

func (w *watcher) take(change podChange) {
	switch change.News {
	case podsListed:
		w.forget()
	case watchInterrupted:
		w.say(fmt.Sprintf("the pods can't be seen: %v", change.Err))
	case podsCurrent:
		w.current = true
		w.say(fmt.Sprintf("%d live pods where they belong, %d wait elsewhere", len(w.home), len(w.waiting)))
		w.schedule()
	case podSeen, podGone:
		if slices.Contains(w.search.Expected, change.Pod.Namespace) {
			note(w.home, change)
		} else {
			note(w.away, change)
			w.elsewhere(change)
		}
	}
}

// note takes a change of a pod into the live ones.
func note(live map[types.UID]bool, change podChange) {
	if change.News == podSeen && change.Pod.Live() {
		live[change.Pod.UID] = true
	} else {
		delete(live, change.Pod.UID)
	}
}

func (w *watcher) elsewhere(change podChange) {
	pod := change.Pod
	_, waited := w.waiting[pod.UID]
	if waits := change.News == podSeen && pod.Untouched() && pod.Controller == ""; !waits {
		delete(w.waiting, pod.UID)
		delete(w.cleared, pod.UID)
		if waited {
			w.say(fmt.Sprintf("pod %s waits no longer", pod))
		}
		return
	}
	if !waited && w.cleared[pod.UID] == "" && w.current {
		w.say(fmt.Sprintf("pod %s was made elsewhere and waits", pod))
	}
	w.waiting[pod.UID] = pod
	w.schedule()
}

// schedule sees to it that those that wait are evaluated.
func (w *watcher) schedule() {
	if w.current && len(w.waiting) > 0 && !w.armed {
		w.liveBefore, w.armed = len(w.home), true
		w.timer.Reset(gracePeriod)
	}
}

// evaluate tells by *Error which pods are stranded. The others are cleared
// until they change.
func (w *watcher) evaluate(ctx context.Context) error {
	w.armed = false
	if !w.current {
		return nil // it is evaluated when the list is complete
	}
	references, waiting := w.search.references(), slices.Collect(maps.Values(w.waiting))
	if err := references.ask(ctx, waiting); err != nil {
		return err
	}
	slices.SortFunc(waiting, func(a, b Pod) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.String(), b.String()))
	})
	var unseen error
	alarm := &Error{Summary: Summary{LiveExpected: len(w.home), Fewer: len(w.home) < w.liveBefore}}
	for _, pod := range waiting {
		why, stranded, blind := references.evaluate(ctx, pod)
		switch {
		case stranded:
			alarm.Pods = append(alarm.Pods, Misplaced{Pod: pod, Why: why})
			w.say(fmt.Sprintf("pod %s can't start: %s", pod, why))
		case blind != nil:
			unseen = blind
		default:
			w.clear(pod, why)
		}
	}
	if stranded := len(alarm.Pods); stranded > 0 {
		alarm.Summary.Stranded, alarm.Summary.LiveElsewhere = stranded, len(w.away)-stranded
		return alarm
	}
	return w.evaluateAgain(unseen)
}

// evaluateAgain goes on after a transient error; any other ends the watch.
func (w *watcher) evaluateAgain(unseen error) error {
	if class := apierr.ClassOf(unseen); unseen != nil && class != apierr.Transient && class != apierr.Throttled {
		return unseen
	}
	if unseen != nil && !w.blind {
		w.say(unseen.Error())
	}
	w.blind = unseen != nil
	w.schedule()
	return nil
}

func (w *watcher) clear(pod Pod, why string) {
	if w.cleared[pod.UID] != why {
		w.say(fmt.Sprintf("pod %s %s", pod, why))
	}
	w.cleared[pod.UID] = why
	delete(w.waiting, pod.UID)
}
