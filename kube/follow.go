package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/backoff"
	"salve/internal/clock"
)

// watchAgain is the schedule after a watch ended early, as those do that the API
// server can't get rid of their events quickly enough.
var watchAgain = backoff.Exponential{First: 100 * time.Millisecond, Longest: 5 * time.Second, Factor: 2}

// follow sees the pods of a node go, until ctx ends. It sends the UIDs of those
// that are gone.
//
// Each node has a watch of its own, as its kubelet has: the API server keeps an
// index of pods by node for that, so that neither it nor we touch an event of any
// other node's pod. A single watch can't be narrowed to some nodes (selectors
// know no "or" for fields); one over all pods would carry every change in a
// cluster that may be a hundred times larger than what is drained, and is ended
// by the API server when it is not read quickly enough. Whole pods come, not
// their metadata only: the API server encodes them once for all who watch them,
// and nothing of them is kept here. The watch of a node ends with its last pod.
func (c *Cluster) follow(ctx context.Context, node *emptying, seen chan<- types.UID) {
	known := make(map[types.UID]bool, len(node.pods))
	for _, p := range node.pods {
		known[p.uid] = true
	}
	watching := &following{cluster: c, node: node.name, version: node.version, known: known, seen: seen}
	for n := 1; context.Cause(ctx) == nil; n++ {
		if watching.version == "" {
			watching.look(ctx)
		}
		if watching.version != "" && watching.watch(ctx) {
			n = 0
		}
		if clock.Sleep(ctx, c.Clock, watchAgain.Pause(max(n, 1), 0)) != nil {
			return
		}
	}
}

// following is one node's watch.
type following struct {
	cluster *Cluster
	node    string
	// version is where to go on; empty when the pods have to be looked at anew.
	version string
	known   map[types.UID]bool
	seen    chan<- types.UID
}

// look lists the node's pods and reports those that are not there any more. A
// failure leaves the version empty.
func (f *following) look(ctx context.Context) {
	there := make(map[types.UID]bool, len(f.known))
	var version string
	err := backoff.Once(ctx, f.cluster.Clock, func(ctx context.Context) error {
		var err error
		version, err = f.cluster.eachPodOf(ctx, f.node, func(pod *corev1.Pod) error {
			there[pod.UID] = true
			return nil
		})
		return err
	})
	if err != nil {
		return
	}
	f.version = version
	for uid := range f.known {
		if !there[uid] {
			f.left(ctx, uid)
		}
	}
}

// watch follows the pods from the version on until the watch ends, and tells
// whether it brought anything. A watch can die without a word, so it is believed
// for a while only: then the pods are looked at anew, as they are when the API
// server says that the version is too old.
func (f *following) watch(ctx context.Context) (alive bool) {
	limited, cancel := clock.WithTimeout(ctx, f.cluster.Clock, resync)
	defer cancel()
	options := podsOf(f.node)
	options.ResourceVersion, options.AllowWatchBookmarks = f.version, true
	watcher, err := f.cluster.Client.CoreV1().Pods(metav1.NamespaceAll).Watch(limited, options)
	if err != nil {
		if answered(err) {
			f.version = ""
		}
		return false
	}
	defer watcher.Stop()
	for {
		select {
		case <-limited.Done():
			f.version = ""
			return true
		case event, open := <-watcher.ResultChan():
			if !open {
				return alive // resumed where it ended
			}
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				f.version = ""
				return alive
			}
			alive, f.version = true, pod.ResourceVersion
			if event.Type == watch.Deleted {
				f.left(ctx, pod.UID)
			}
		}
	}
}

func (f *following) left(ctx context.Context, uid types.UID) {
	if !f.known[uid] {
		return
	}
	delete(f.known, uid)
	select {
	case f.seen <- uid:
	case <-ctx.Done():
	}
}
