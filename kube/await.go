package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/clock"
)

// resync is how long a watch is believed before the nodes are listed again: a
// watch can die without a word.
const resync = time.Minute

// AwaitNodes waits until enough says that the nodes which match a label selector
// are as wanted. It lists once and then watches; when the watch ends it lists
// again.
func (c *Cluster) AwaitNodes(ctx context.Context, selector string, enough func([]Node) bool) error {
	for {
		var list *corev1.NodeList
		err := c.Read(ctx, fmt.Sprintf("listing nodes (%s)", selector), func(ctx context.Context) error {
			var err error
			list, err = c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: selector})
			return err
		})
		if err != nil {
			return err
		}
		nodes := make(map[string]Node, len(list.Items))
		for i := range list.Items {
			nodes[list.Items[i].Name] = nodeOf(&list.Items[i])
		}
		if enough(sorted(nodes)) {
			return nil
		}
		done, err := c.watchNodes(ctx, selector, list.ResourceVersion, nodes, enough)
		if done || err != nil {
			return err
		}
		if err := clock.Sleep(ctx, c.Clock, time.Second); err != nil {
			return err
		}
	}
}

// watchNodes follows the nodes from a version on; done is false when the watch
// ended or its time is over.
func (c *Cluster) watchNodes(ctx context.Context, selector, version string, nodes map[string]Node, enough func([]Node) bool) (done bool, _ error) {
	limited, cancel := clock.WithTimeout(ctx, c.Clock, resync)
	defer cancel()
	watcher, err := c.Client.CoreV1().Nodes().Watch(limited, metav1.ListOptions{LabelSelector: selector, ResourceVersion: version})
	if err != nil {
		return false, context.Cause(ctx) // the next list tells what is wrong
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
			if enough(sorted(nodes)) {
				return true, nil
			}
		}
	}
}

func sorted(nodes map[string]Node) []Node {
	return slices.SortedFunc(maps.Values(nodes), func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
}
