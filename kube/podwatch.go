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

// rewatchBackoff is the schedule after a watch ended early, as the API server ends
// those that are not read fast enough.
func rewatchBackoff() backoff.Exponential {
	return backoff.Exponential{First: 100 * time.Millisecond, Longest: 5 * time.Second, Factor: 2}
}

// watchPods watches the pods of a node until ctx ends, and sends the UIDs of those
// that are deleted.
//
// Each node has a watch of its own, as its kubelet has: the API server keeps an
// index of pods by node for that, so that neither it nor we handle an event of any
// other node's pod. A single watch can't be narrowed to some nodes (field selectors
// have no "or"); one over all pods would carry every change in a cluster that may be
// a hundred times larger than what is drained, and is ended by the API server when
// it is not read fast enough. It watches whole pods, not their metadata only: the
// API server encodes them once for all who watch them, and nothing of them is kept
// here. The watch of a node ends with its last pod.
func (c *Cluster) watchPods(ctx context.Context, node *drainingNode, deletions chan<- types.UID) {
	known := make(map[types.UID]*pod, len(node.pods))
	for _, p := range node.pods {
		known[p.uid] = p
	}
	w := &podWatch{cluster: c, node: node.name, version: node.version, known: known, deletions: deletions}
	schedule := rewatchBackoff()
	for n := 1; context.Cause(ctx) == nil; n++ {
		if w.version == "" {
			w.relist(ctx)
		}
		if w.version != "" && w.watch(ctx) {
			n = 0
		}
		if clock.Sleep(ctx, c.Clock, schedule.Pause(max(n, 1), 0)) != nil {
			return
		}
	}
}

// podWatch is one node's watch. Of its pods it reads what never changes.
type podWatch struct {
	cluster *Cluster
	node    string
	// version is where to resume; empty when the pods have to be listed again.
	version   string
	known     map[types.UID]*pod
	deletions chan<- types.UID
}

// relist lists the node's pods and reports those that are deleted. That a pod is
// not in the list is confirmed by its own 404: a list that is empty by mistake would
// say that all are deleted. A failure leaves the version empty.
func (w *podWatch) relist(ctx context.Context) {
	listed := make(map[types.UID]bool, len(w.known))
	var version string
	err := backoff.Once(ctx, w.cluster.Clock, func(ctx context.Context) (err error) {
		version, err = w.cluster.eachPodOnNode(ctx, w.node, func(pod *corev1.Pod) error {
			listed[pod.UID] = true
			return nil
		})
		return err
	})
	if err != nil {
		return
	}
	confirmed := true
	for uid, p := range w.known {
		switch {
		case listed[uid]:
		case w.cluster.podDeleted(ctx, p):
			w.reportDeleted(ctx, uid)
		default:
			confirmed = false
		}
	}
	if confirmed {
		w.version = version
	}
}

// watch watches the pods from the version on until the watch ends, and tells whether
// it had any event. A watch can end without an error, so it is relied on for a while
// only: then the pods are listed again, as they are when the API server says that
// the version is too old.
func (w *podWatch) watch(ctx context.Context) (alive bool) {
	limited, cancel := clock.WithTimeout(ctx, w.cluster.Clock, resync)
	defer cancel()
	options := podsOnNode(w.node)
	options.ResourceVersion, options.AllowWatchBookmarks = w.version, true
	watcher, err := w.cluster.Client.CoreV1().Pods(metav1.NamespaceAll).Watch(limited, options)
	if err != nil {
		if answered(err) {
			w.version = ""
		}
		return false
	}
	defer watcher.Stop()
	for {
		select {
		case <-limited.Done():
			w.version = ""
			return true
		case event, open := <-watcher.ResultChan():
			if !open {
				return alive // resumed where it ended
			}
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				w.version = ""
				return alive
			}
			alive, w.version = true, pod.ResourceVersion
			if event.Type == watch.Deleted {
				w.reportDeleted(ctx, pod.UID)
			}
		}
	}
}

func (w *podWatch) reportDeleted(ctx context.Context, uid types.UID) {
	if w.known[uid] == nil {
		return
	}
	delete(w.known, uid)
	select {
	case w.deletions <- uid:
	case <-ctx.Done():
	}
}

// podDeleted tells whether the pod with that UID is known not to exist any more,
// though there may be another one of its name.
func (c *Cluster) podDeleted(ctx context.Context, p *pod) bool {
	replaced := false
	err := backoff.Once(ctx, c.Clock, func(ctx context.Context) error {
		found, err := c.Client.CoreV1().Pods(p.namespace).Get(ctx, p.name, metav1.GetOptions{})
		if err == nil {
			replaced = found.Name == p.name && found.Namespace == p.namespace && found.UID != p.uid
		}
		return err
	})
	return replaced || isAbsent(err, "pods", p.name)
}
