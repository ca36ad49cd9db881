package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
)

// page is how many objects one list request asks for: more than a node can hold, so
// that a node is one request.
const page = 500

// stage is how far a pod is on its way out.
type stage int

const (
	untouched stage = iota
	asked           // its eviction was asked for and is not granted
	ending          // it was granted, or the pod was going anyway
	gone
)

// pod is what a drain keeps of a pod: a few words, not the object.
type pod struct {
	namespace, name string
	uid             types.UID
	node            *emptying
	// labels are dropped once the budgets were matched.
	labels map[string]string
	stage  stage
	// home is the queue of the budgets that the pod is known to be under; nil
	// when none is known.
	home *queue
	// in is the queue that the pod stands in, or was asked for from.
	in *queue
	// trouble is why the pod could not be evicted, when no budget was in the way.
	trouble string
}

func podOf(found *corev1.Pod, node *emptying) *pod {
	p := &pod{namespace: found.Namespace, name: found.Name, uid: found.UID, node: node, labels: found.Labels}
	if found.DeletionTimestamp != nil {
		p.stage = ending
	}
	return p
}

func (p *pod) String() string { return podName(p.namespace, p.name) }

// emptying is a node on its way to being empty.
type emptying struct {
	name string
	// version is the resourceVersion at which the node's pods were read.
	version string
	pods    []*pod
	left    int
	// waiting counts the pods that stand in each queue.
	waiting map[*queue]int
	// settled ends the watch of the node.
	settled context.CancelFunc
}

// inventory is what is on nodes, judged by kubectl's filters.
type inventory struct {
	nodes   []*emptying
	skipped []SkippedPod
}

// takeInventory reads the pods of all nodes side by side: one request a node,
// because the API server keeps an index of pods by node and of nothing else that
// says where they run.
func (c *Cluster) takeInventory(ctx context.Context, nodes []Node) (inventory, error) {
	filters := newFilters(c)
	shelves := make([]*emptying, len(nodes))
	skipped := make([][]SkippedPod, len(nodes))
	err := Parallel(ctx, len(nodes), func(ctx context.Context, i int) error {
		var err error
		shelves[i], skipped[i], err = c.readNode(ctx, nodes[i].Name, filters)
		return err
	})
	if err != nil {
		return inventory{}, err
	}
	all := inventory{nodes: shelves}
	for _, some := range skipped {
		all.skipped = append(all.skipped, some...)
	}
	return all, nil
}

func (c *Cluster) readNode(ctx context.Context, name string, filters *filters) (*emptying, []SkippedPod, error) {
	if name == "" {
		return nil, nil, apierr.New(apierr.Terminal, "a node without a name: its pods would be those that run nowhere")
	}
	var node *emptying
	var skipped []SkippedPod
	err := c.Read(ctx, fmt.Sprintf("listing the pods of node %q", name), func(ctx context.Context) error {
		node, skipped = &emptying{name: name, waiting: map[*queue]int{}}, nil
		var err error
		node.version, err = c.eachPodOf(ctx, name, func(found *corev1.Pod) error {
			verdict, err := filters.judge(ctx, found)
			switch {
			case err != nil:
				return err
			case verdict.goes:
				node.pods = append(node.pods, podOf(found, node))
			default:
				skipped = append(skipped, SkippedPod{Pod: podName(found.Namespace, found.Name), Node: name, Reason: verdict.reason})
			}
			return nil
		})
		node.left = len(node.pods)
		return err
	})
	return node, skipped, err
}

// eachPodOf visits the pods of a node, page by page, and gives the version from
// which a watch misses nothing.
func (c *Cluster) eachPodOf(ctx context.Context, node string, visit func(*corev1.Pod) error) (version string, _ error) {
	options := podsOf(node)
	options.Limit = page
	for {
		list, err := c.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
		if err != nil {
			return "", err
		}
		if version == "" {
			version = list.ResourceVersion
		}
		for i := range list.Items {
			if err := visit(&list.Items[i]); err != nil {
				return "", err
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return version, nil
		}
	}
}

func podsOf(node string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String()}
}
