package stranded

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
)

// spoken is AwaitStranded at work.
type spoken struct {
	stop context.CancelCauseFunc

	mu  sync.Mutex
	all []string
	end error
}

func (s *spoken) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, line)
}

func (s *spoken) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

func (s *spoken) ended(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = err
}

func (s *spoken) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

func (s *spoken) count(text string) (n int) {
	for _, line := range s.lines() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

var errStopped = errors.New("the test has seen enough")

// watching runs a test beside AwaitStranded, which has ended when it returns.
func watching(t *testing.T, s *Search, test func(*spoken)) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	seen, ended := &spoken{stop: cancel}, make(chan struct{})
	go func() {
		defer close(ended)
		seen.ended(s.AwaitStranded(ctx, seen.say))
	}()
	synctest.Wait()
	test(seen)
	cancel(errStopped)
	<-ended
	return seen.err()
}

// TestWatchGoesOnWhereItEnded: what came meanwhile is not missed, an end of the watch is no news, and no watch is left
// behind.
func TestWatchGoesOnWhereItEnded(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		pod := a.pod("home", "a")
		err := watching(t, s, func(seen *spoken) {
			pod.ResourceVersion = "105"
			a.opened()[0].send("MODIFIED", pod)
			_ = a.opened()[0].written.Close()
			pass(time.Second)
			if len(a.opened()) != 2 || a.opened()[1].since != "105" {
				t.Fatalf("%d watches, the last since %s", len(a.opened()), a.opened()[len(a.opened())-1].since)
			}
			if a.opened()[0].ctx.Err() == nil {
				t.Error("the watch that ended is held")
			}
			if passed := a.opened()[1].at.Sub(a.opened()[0].at); passed < 50*time.Millisecond {
				t.Errorf("the next watch came after %v", passed)
			}
			if len(seen.lines()) != 1 || seen.lines()[0] != "1 live pods where they belong, 0 wait elsewhere" {
				t.Errorf("%q", seen.lines())
			}
		})
		if !errors.Is(err, errStopped) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestSilentWatchIsOpenedAgain after three minutes without even a bookmark, and no other is.
func TestSilentWatchIsOpenedAgain(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		_ = watching(t, s, func(*spoken) {
			for range 5 {
				pass(2 * time.Minute)
				a.opened()[0].send("BOOKMARK", corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
					ObjectMeta: metav1.ObjectMeta{ResourceVersion: "107"}})
			}
			if len(a.opened()) != 1 {
				t.Fatalf("a watch with bookmarks was opened %d times", len(a.opened()))
			}
			pass(silence + time.Second)
			if len(a.opened()) != 2 || a.opened()[1].since != "107" {
				t.Errorf("a silent one was opened %d times", len(a.opened()))
			}
		})
	})
}

// TestPastThatIsNotKeptIsListedAnew: pods that went meanwhile are forgotten.
func TestPastThatIsNotKeptIsListedAnew(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		for _, name := range []string{"a", "b"} {
			a.pod("home", name)
		}
		_ = watching(t, s, func(seen *spoken) {
			a.gone("a")
			a.opened()[0].send("ERROR", status(http.StatusGone, metav1.StatusReasonExpired))
			pass(time.Second)
			want := []string{"2 live pods where they belong, 0 wait elsewhere",
				"1 live pods where they belong, 0 wait elsewhere"}
			if !slices.Equal(seen.lines(), want) || len(a.opened()) != 2 || !a.opened()[0].closed.Load() {
				t.Errorf("%q, %d watches, the first closed %v", seen.lines(), len(a.opened()), a.opened()[0].closed.Load())
			}
		})
	})
}

// TestPodsThatGoAreNotCounted: of the live ones, where they belong and elsewhere, and of those that wait.
func TestPodsThatGoAreNotCounted(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		home, waits := a.pod("home", "a"), a.stranded("b")
		var alarm *Error
		err := watching(t, s, func(seen *spoken) {
			a.opened()[0].send("DELETED", home)
			a.opened()[0].send("DELETED", waits)
			pass(time.Minute)
			if seen.count("waits no longer") != 1 || seen.count("can't start") != 0 {
				t.Errorf("%q", seen.lines())
			}
			a.opened()[0].send("ADDED", a.stranded("c"))
			pass(time.Minute)
			if seen.count("away/c was made elsewhere and waits") != 1 {
				t.Errorf("%q", seen.lines())
			}
		})
		if !errors.As(err, &alarm) || alarm.Summary != (Summary{Stranded: 1}) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestAlarmNamesTheOldestFirst of those that are stranded, and waits for what was begun to end.
func TestAlarmNamesTheOldestFirst(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		began := metav1.Now()
		for n := range 8 {
			a.stranded(fmt.Sprint(n)).CreationTimestamp = metav1.NewTime(began.Add(time.Duration(-n) * time.Second))
		}
		var asking atomic.Int32
		a.answer = func(request *http.Request) *http.Response {
			if strings.Contains(request.URL.Path, "/secrets/") {
				asking.Add(1)
				time.Sleep(time.Second)
			}
			return nil
		}
		err := watching(t, s, func(seen *spoken) {
			if pass(time.Minute); seen.err() == nil || seen.count("can't start: Secret ") != 8 {
				t.Errorf("no end after %q", seen.lines())
			}
		})
		var alarm *Error
		if !errors.As(err, &alarm) || len(alarm.Pods) != 8 || asking.Load() != 16 {
			t.Fatalf("it ended with %v after %d questions", err, asking.Load())
		}
		for n, pod := range alarm.Pods {
			if pod.Name != fmt.Sprint(7-n) {
				t.Errorf("pod %d of the alarm is %s", n, pod)
			}
		}
	})
}

// TestNeedsAreAskedForSideBySide: eight pods, each of which needs what is elsewhere, take no longer than a few.
func TestNeedsAreAskedForSideBySide(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		for n := range 8 {
			a.stranded(fmt.Sprint(n))
		}
		a.answer = func(request *http.Request) *http.Response {
			if strings.Contains(request.URL.Path, "/secrets/") {
				time.Sleep(time.Second)
			}
			return nil
		}
		began := time.Now()
		seen, err := s.ReadState(t.Context())
		if err != nil || len(seen.Stranded) != 8 || time.Since(began) > 8*time.Second {
			t.Errorf("%v, %v after %v", seen, err, time.Since(began))
		}
		pods, began := seen.Elsewhere(), time.Now()
		w := &watcher{search: s, say: func(string) {}}
		w.forget()
		w.current = true
		for _, pod := range pods {
			w.waiting[pod.UID] = pod.Pod
		}
		var alarm *Error
		if err := w.evaluate(t.Context()); !errors.As(err, &alarm) || time.Since(began) > 8*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestListThatFailsIsNotComplete: nothing is counted before all pages were seen.
func TestListThatFailsIsNotComplete(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		pod, mended := a.pod("home", "a"), atomic.Bool{}
		a.answer = func(request *http.Request) *http.Response {
			query := request.URL.Query()
			switch {
			case mended.Load() || query.Get("watch") != "":
				return nil
			case query.Get("continue") != "":
				return refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError)
			}
			return said(http.StatusOK, map[string]any{"kind": "PodList", "apiVersion": "v1", "items": []any{pod},
				"metadata": map[string]any{"continue": "more", "resourceVersion": "7"}})
		}
		_ = watching(t, s, func(seen *spoken) {
			pass(10 * time.Minute)
			if seen.count("live pods") != 0 || seen.count("can't be seen") != 1 || len(a.opened()) != 0 {
				t.Errorf("%q, %d watches", seen.lines(), len(a.opened()))
			}
			mended.Store(true)
			pass(10 * time.Minute)
			if seen.count("1 live pods where they belong") != 1 {
				t.Errorf("%q", seen.lines())
			}
		})
	})
}

// TestWatchThatGoesOnIsSaid, once for each time that it could not; others that can't be seen for good end it.
func TestWatchThatGoesOnIsSaid(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		var refused atomic.Int32
		refused.Store(3)
		a.answer = func(request *http.Request) *http.Response {
			if request.URL.Query().Get("watch") != "" && refused.Load() > 0 {
				refused.Add(-1)
				return refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError)
			}
			return nil
		}
		err := watching(t, s, func(seen *spoken) {
			pass(time.Minute)
			if seen.count("can't be seen") != 1 || seen.count("live pods") != 2 || refused.Load() != 0 {
				t.Errorf("%q, %d to come", seen.lines(), refused.Load())
			}
			a.opened()[0].send("ERROR", status(http.StatusForbidden, metav1.StatusReasonForbidden))
			pass(time.Minute)
		})
		if apierr.ClassOf(err) != apierr.Denied || errors.Is(err, errStopped) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestWatchEndsWithItsReason, whatever the API server says meanwhile, and when all that it began has ended.
func TestWatchEndsWithItsReason(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		var stop context.CancelCauseFunc
		var answered atomic.Bool
		a.answer = func(*http.Request) *http.Response {
			time.Sleep(time.Second)
			stop(errStopped)
			time.Sleep(time.Second)
			answered.Store(true)
			return denied()
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stop = cancel
		if err := s.AwaitStranded(ctx, func(string) {}); !errors.Is(err, errStopped) || !answered.Load() {
			t.Errorf("it ended with %v, answered %v", err, answered.Load())
		}
		if err := s.follow(ctx, make(chan podChange, changesHeld)); !errors.Is(err, errStopped) {
			t.Errorf("following ended with %v", err)
		}
	})
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a.answer = func(*http.Request) *http.Response { cancel(errStopped); return denied() }
		if err := s.follow(ctx, make(chan podChange, changesHeld)); !errors.Is(err, errStopped) {
			t.Errorf("following ended with %v", err)
		}
	})
}

// TestWhatWaitsIsEvaluatedOnce: a pod that is cleared is forgotten until it changes, and nothing is evaluated of a list
// that is not complete.
func TestWhatWaitsIsEvaluatedOnce(t *testing.T) {
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		pod := podOf(a.pod("away", "a"))
		var lines []string
		w := &watcher{search: s, say: func(line string) { lines = append(lines, line) }, timer: s.Clock.NewTimer(time.Hour)}
		w.take(podChange{News: podsListed})
		w.take(podChange{News: podSeen, Pod: pod})
		if err := w.evaluate(t.Context()); err != nil || a.requests("GET") != 0 {
			t.Errorf("%v after %d requests", err, a.requests("GET"))
		}
		w.take(podChange{News: podsCurrent})
		for range 2 {
			if err := w.evaluate(t.Context()); err != nil || a.requests("GET") != 2 || len(w.waiting) != 0 {
				t.Errorf("%v after %d requests, %d wait", err, a.requests("GET"), len(w.waiting))
			}
		}
		w.take(podChange{News: podGone, Pod: pod})
		w.take(podChange{News: podSeen, Pod: pod})
		want := []string{"0 live pods where they belong, 1 wait elsewhere", "pod away/a waits for nothing that is in home",
			"pod away/a was made elsewhere and waits"}
		if !slices.Equal(lines, want) || len(w.waiting) != 1 {
			t.Errorf("%q", lines)
		}
		running := pod
		running.Phase = "Running"
		w.take(podChange{News: podSeen, Pod: running})
		if len(w.waiting) != 0 {
			t.Error("a pod that runs is said to wait")
		}
	})
}
