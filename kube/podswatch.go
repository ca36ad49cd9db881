package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/fault"
	"salve/pace"
)

// PodNews is what following pods brings.
type PodNews int

const (
	// PodsAnew: all pods are listed anew, and follow as seen. What was known of
	// them is void.
	PodsAnew PodNews = iota
	// PodSeen: the pod is there, or has changed.
	PodSeen
	// PodGone: the pod is not there any more.
	PodGone
	// PodsCurrent: the list is complete, or the watch goes on after trouble.
	PodsCurrent
	// PodsUnseen: the API server stumbles; changes are seen later.
	PodsUnseen
)

// PodEvent is one change of pods, or of how well they can be seen.
type PodEvent struct {
	News PodNews
	// Pod is what PodSeen and PodGone are about.
	Pod Pod
	// Err is why pods are unseen.
	Err error
}

// silence is how long a watch may bring nothing, not even a bookmark, which the API
// server sends about every minute, before it is taken for dead and begun again
// where it was.
const silence = 3 * time.Minute

// FollowPods tells every change of the pods that match a label selector, in all
// namespaces, until ctx ends: by one list, and then by one watch at a time, gone on
// with where the last one ended. It keeps nothing of any pod. It ends earlier when
// the API server refuses for good, with an error that has a class.
func (c *Cluster) FollowPods(ctx context.Context, selector string, events chan<- PodEvent) error {
	f := &podFollowing{cluster: c, selector: selector, events: events}
	for n := 1; ; n++ {
		alive, err := f.follow(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if alive {
			n = 1
		}
		if err != nil {
			class := fault.ClassOf(err)
			if class == fault.Denied || class == fault.Terminal {
				return err
			}
			f.tell(ctx, PodEvent{News: PodsUnseen, Err: err})
			f.troubled = true
		}
		if err := pace.Pause(ctx, c.Clock, watchAgain.Pause(n, fault.RetryAfter(err))); err != nil {
			return err
		}
	}
}

type podFollowing struct {
	cluster  *Cluster
	selector string
	events   chan<- PodEvent
	// version is where to go on; empty when the pods have to be listed.
	version  string
	troubled bool
}

// follow lists, if it has to, and watches until the watch ends. It tells whether
// anything was seen.
func (f *podFollowing) follow(ctx context.Context) (alive bool, _ error) {
	if f.version == "" {
		begin := func() { f.tell(ctx, PodEvent{News: PodsAnew}) }
		version, err := f.cluster.EachPod(ctx, metav1.NamespaceAll, f.selector, begin, func(pod *corev1.Pod) error {
			return f.tell(ctx, PodEvent{News: PodSeen, Pod: PodOf(pod)})
		})
		if err != nil {
			return false, err
		}
		f.version, f.troubled, alive = version, false, true
		f.tell(ctx, PodEvent{News: PodsCurrent})
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := f.cluster.Clock.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	watcher, err := f.cluster.Client.CoreV1().Pods(metav1.NamespaceAll).Watch(limited, metav1.ListOptions{
		LabelSelector: f.selector, ResourceVersion: f.version, AllowWatchBookmarks: true,
	})
	if err != nil {
		return alive, f.lost(err)
	}
	defer watcher.Stop()
	if f.troubled {
		f.troubled = false
		f.tell(ctx, PodEvent{News: PodsCurrent})
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
func (f *podFollowing) take(ctx context.Context, event watch.Event) error {
	pod, isPod := event.Object.(*corev1.Pod)
	if !isPod {
		return apierrors.FromObject(event.Object)
	}
	f.version = pod.ResourceVersion
	switch event.Type {
	case watch.Added, watch.Modified:
		return f.tell(ctx, PodEvent{News: PodSeen, Pod: PodOf(pod)})
	case watch.Deleted:
		return f.tell(ctx, PodEvent{News: PodGone, Pod: PodOf(pod)})
	}
	return nil // a bookmark
}

// lost judges the end of a watch. One that the API server can't go on with, because
// the past is not kept for so long, is no trouble: the pods are listed anew.
func (f *podFollowing) lost(err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		f.version = ""
		return nil
	}
	return fmt.Errorf("watching the pods (%s): %w", f.selector, classify(err))
}

func (f *podFollowing) tell(ctx context.Context, event PodEvent) error {
	select {
	case f.events <- event:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
