package kube

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/clock"
)

// resync is how long a watch is relied on before the objects are listed again: a
// watch can end without an error.
const resync = time.Minute

// AwaitNodes waits until done says that the nodes which match a label selector are
// as required. It lists once and then watches; when the watch ends it lists again.
func (c *Cluster) AwaitNodes(ctx context.Context, selector string, done func([]Node) bool) error {
	for {
		list, err := c.listNodes(ctx, selector)
		if err != nil {
			return err
		}
		nodes := make(map[string]Node, len(list.Items))
		for i := range list.Items {
			nodes[list.Items[i].Name] = nodeOf(&list.Items[i])
		}
		if done(sortedByName(nodes)) {
			return nil
		}
		finished, err := c.watchNodes(ctx, selector, list.ResourceVersion, nodes, done)
		if finished || err != nil {
			return err
		}
		if err := clock.Sleep(ctx, c.Clock, time.Second); err != nil {
			return err
		}
	}
}

// watchNodes watches the nodes from a version on; finished is false when the watch
// ended or resync has passed.
func (c *Cluster) watchNodes(
	ctx context.Context, selector, version string, nodes map[string]Node, done func([]Node) bool,
) (finished bool, _ error) {
	limited, cancel := clock.WithTimeout(ctx, c.Clock, resync)
	defer cancel()
	watcher, err := c.Client.CoreV1().Nodes().Watch(limited, metav1.ListOptions{LabelSelector: selector,
		ResourceVersion: version})
	if err != nil {
		return false, context.Cause(ctx) // the next list tells the cause
	}
	defer watcher.Stop()
	for {
		select {
		case <-limited.Done():
			return false, context.Cause(ctx)
		case event, open := <-watcher.ResultChan():
			node, isNode := event.Object.(*corev1.Node)
			if !open || !isNode {
				return false, context.Cause(ctx)
			}
			nodes[node.Name] = nodeOf(node)
			if event.Type == watch.Deleted {
				delete(nodes, node.Name)
			}
			if done(sortedByName(nodes)) {
				return true, nil
			}
		}
	}
}

func sortedByName(nodes map[string]Node) []Node {
	return slices.SortedFunc(maps.Values(nodes), func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
}
