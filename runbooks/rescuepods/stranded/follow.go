package stranded

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/kube"
)

// podNews is what following pods brings.
type podNews int

const (
	// podsAnew: all pods are listed anew, and follow as seen. What was known of
	// them is void.
	podsListed podNews = iota
	// podSeen: the pod is there, or has changed.
	podSeen
	// podGone: the pod is not there any more.
	podGone
	// podsCurrent: the list is complete, or the watch goes on after an error.
	podsCurrent
	// watchInterrupted: the API server stumbles; changes are seen later.
	watchInterrupted
)

// podChange is one change of pods, or of how well they can be seen.
type podChange struct {
	News podNews
	// Pod is what podSeen and podGone are about.
	Pod Pod
	// Err is why pods are unseen.
	Err error
}

// rewatchPause is the time after the nth watch that ended early.
func rewatchPause(n int, retryAfter time.Duration) time.Duration {
	return backoff.Exponential{First: 100 * time.Millisecond, Longest: 5 * time.Second, Factor: 2}.Pause(n, retryAfter)
}

// silence is how long a watch may bring nothing, not even a bookmark, which the API
// server sends about every minute, before it is taken for dead and opened again
// where it was.
const silence = 3 * time.Minute

// follow tells every change of the pods of the selector, in all namespaces, until
// ctx ends: by one list, and then by one watch at a time, gone on with where the last
// one ended. It keeps nothing of any pod. It ends earlier when the API server refuses
// for good, with an error that has a class.
func (s *Search) follow(ctx context.Context, changes chan<- podChange) error {
	f := &following{search: s, changes: changes}
	for n := 1; ; n++ {
		alive, err := f.follow(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if alive {
			n = 1
		}
		if err != nil {
			class := apierr.ClassOf(err)
			if class == apierr.Denied || class == apierr.Terminal {
				return err
			}
			if !f.failing { // said once, until they are seen again
				if err := f.emit(ctx, podChange{News: watchInterrupted, Err: err}); err != nil {
					return err
				}
			}
			f.failing = true
		}
		if err := clock.Sleep(ctx, s.Clock, rewatchPause(n, apierr.RetryAfter(err))); err != nil {
			return err
		}
	}
}

type following struct {
	search  *Search
	changes chan<- podChange
	// version is where to go on; empty when the pods have to be listed.
	version string
	failing bool
}

// follow lists, if it has to, and watches until the watch ends. It tells whether
// anything was seen.
func (f *following) follow(ctx context.Context) (alive bool, _ error) {
	if f.version == "" {
		// That ctx has ended is told by the next emit.
		begin := func() { _ = f.emit(ctx, podChange{News: podsListed}) }
		version, err := f.search.EachPod(ctx, kube.Scope{Selector: f.search.Selector}, begin, func(pod *corev1.Pod) error {
			return f.emit(ctx, podChange{News: podSeen, Pod: podOf(pod)})
		})
		if err != nil {
			return false, err
		}
		f.version, f.failing, alive = version, false, true
		if err := f.emit(ctx, podChange{News: podsCurrent}); err != nil {
			return alive, err
		}
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := f.search.Clock.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	watcher, err := f.search.Client.CoreV1().Pods(metav1.NamespaceAll).Watch(limited, metav1.ListOptions{
		LabelSelector: f.search.Selector, ResourceVersion: f.version, AllowWatchBookmarks: true,
	})
	if err != nil {
		return alive, f.lost(err)
	}
	defer watcher.Stop()
	if f.failing {
		f.failing = false
		if err := f.emit(ctx, podChange{News: podsCurrent}); err != nil {
			return alive, err
		}
	}
	for {
		select {
		case <-limited.Done():
			return alive, nil
		case event, open := <-watcher.ResultChan():
			alarm.Reset(silence)
			if !open {
				return alive, nil
			}
			if err := f.take(ctx, event); err != nil {
				return alive, f.lost(err)
			}
			alive = true
		}
	}
}

var errSilent = errors.New("the watch is silent")

// take passes on what a watch brings.
func (f *following) take(ctx context.Context, event watch.Event) error {
	pod, isPod := event.Object.(*corev1.Pod)
	if !isPod {
		return apierrors.FromObject(event.Object)
	}
	f.version = pod.ResourceVersion
	switch event.Type {
	case watch.Added, watch.Modified:
		return f.emit(ctx, podChange{News: podSeen, Pod: podOf(pod)})
	case watch.Deleted:
		return f.emit(ctx, podChange{News: podGone, Pod: podOf(pod)})
	default: // a bookmark
		return nil
	}
}

// lost evaluates the end of a watch. One that the API server can't go on with, because
// the past is not kept for so long, is no error: the pods are listed anew.
func (f *following) lost(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		f.version = ""
		return nil
	}
	return fmt.Errorf("watching the pods (%s): %w", f.search.Selector, kube.Classify(err))
}

func (f *following) emit(ctx context.Context, change podChange) error {
	select {
	case f.changes <- change:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
