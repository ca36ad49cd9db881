package strays

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// settling is how long a pod that waits elsewhere has for what it needs to be made
// after it, and how long others have to join it, before it is judged.
const settling = 10 * time.Second

// changesHeld is how many changes may wait while pods are judged.
const changesHeld = 500

// StrandedError is the alarm: pods are stranded.
type StrandedError struct {
	Pods   []Stray
	Extent Extent
}

func (e *StrandedError) Error() string { return e.Extent.String() }

// AwaitStranded watches the pods of the selector, in all namespaces, and returns
// *StrandedError as soon as some of them are stranded elsewhere than in the homes. It says a line for each change. What it keeps is a few bytes of each pod
// that is at home. Any other error says that it can't be seen: that of follow,
// or of asking what a pod waits for.
func (s *Search) AwaitStranded(ctx context.Context, say func(line string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	changes := make(chan podChange, changesHeld)
	var following sync.WaitGroup
	following.Go(func() { cancel(s.follow(ctx, changes)) })
	defer following.Wait()
	defer cancel(nil)
	w := &lookout{search: s, say: say, timer: s.Clock.NewTimer(time.Hour)}
	w.forget()
	defer w.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case change := <-changes:
			w.take(change)
		case <-w.timer.C():
			if err := w.judge(ctx); err != nil {
				return err
			}
		}
	}
}

// lookout knows of each pod whether it is live at home, or waits elsewhere.
type lookout struct {
	search *Search
	say    func(string)
	timer  clock.Timer

	current bool
	home    map[types.UID]bool
	waiting map[types.UID]Pod
	// cleared are those that were seen to wait elsewhere for something else, and for
	// what.
	cleared map[types.UID]string
	// armed says that those that wait are judged when the timer is over.
	armed bool
	// live counts the live pods at home; liveBefore did when the first began to wait
	// elsewhere.
	live, liveBefore int
}

func (w *lookout) forget() {
	w.home, w.waiting, w.cleared = map[types.UID]bool{}, map[types.UID]Pod{}, map[types.UID]string{}
	w.live, w.current = 0, false
}

func (w *lookout) take(change podChange) {
	switch change.News {
	case podsAnew:
		w.forget()
	case podsUnseen:
		w.say(fmt.Sprintf("the pods can't be seen: %v", change.Err))
	case podsCurrent:
		w.current = true
		w.say(fmt.Sprintf("%d live pods where they belong, %d wait elsewhere", w.live, len(w.waiting)))
		w.schedule()
	case podSeen, podGone:
		if slices.Contains(w.search.Homes, change.Pod.Namespace) {
			w.atHome(change)
		} else {
			w.elsewhere(change)
		}
	}
}

func (w *lookout) atHome(change podChange) {
	was, is := w.home[change.Pod.UID], change.News == podSeen && change.Pod.Live()
	switch {
	case is && !was:
		w.live++
		w.home[change.Pod.UID] = true
	case was && !is:
		w.live--
		delete(w.home, change.Pod.UID)
	}
}

func (w *lookout) elsewhere(change podChange) {
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

// schedule sees to it that those that wait are judged.
func (w *lookout) schedule() {
	if w.current && len(w.waiting) > 0 && !w.armed {
		w.liveBefore, w.armed = w.live, true
		w.timer.Reset(settling)
	}
}

// judge tells by *StrandedError which pods are stranded. The others are cleared
// until they change.
func (w *lookout) judge(ctx context.Context) error {
	w.armed = false
	if !w.current {
		return nil // it is judged when the list is complete
	}
	whereabouts, waiting := w.search.whereabouts(), slices.Collect(maps.Values(w.waiting))
	if err := whereabouts.ask(ctx, waiting); err != nil {
		return err
	}
	slices.SortFunc(waiting, func(a, b Pod) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.String(), b.String()))
	})
	var unseen error
	alarm := &StrandedError{Extent: Extent{LiveAtHome: w.live, Fewer: w.live < w.liveBefore}}
	for _, pod := range waiting {
		why, stranded, blind := whereabouts.judge(ctx, pod)
		switch {
		case stranded:
			alarm.Pods = append(alarm.Pods, Stray{pod, why})
			w.say(fmt.Sprintf("pod %s can't start: %s", pod, why))
		case blind != nil:
			unseen = blind
		default:
			w.clear(pod, why)
		}
	}
	if alarm.Extent.Stranded = len(alarm.Pods); alarm.Extent.Stranded > 0 {
		return alarm
	}
	return unseen
}

func (w *lookout) clear(pod Pod, why string) {
	if w.cleared[pod.UID] != why {
		w.say(fmt.Sprintf("pod %s %s", pod, why))
	}
	w.cleared[pod.UID] = why
	delete(w.waiting, pod.UID)
}
