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

// pageSize is how many objects one list request asks for: more than a node can
// hold, so that a node is one request.
const pageSize = 500

// stage is how far a pod is on its way out.
type stage int

const (
	pending     stage = iota
	evicting          // its eviction was requested and is not accepted
	terminating       // it was accepted, or the pod was being deleted anyway
	deleted
)

// pod is what a drain keeps of a pod: a few words, not the object.
type pod struct {
	namespace, name string
	uid             types.UID
	node            *drainingNode
	// labels are dropped once the budgets were matched.
	labels map[string]string
	stage  stage
	// budgetQueue is the queue of the budgets that are known to select the pod;
	// nil when none is known.
	budgetQueue *queue
	// queue is the one that the pod waits in, or was taken from.
	queue *queue
	// lastError is why the pod could not be evicted, when no budget was in the way.
	lastError string
}

func newPod(found *corev1.Pod, node *drainingNode, decision action) *pod {
	p := &pod{namespace: found.Namespace, name: found.Name, uid: found.UID, node: node, labels: found.Labels}
	if decision == awaitPod {
		p.stage = terminating
	}
	return p
}

func (p *pod) String() string { return podName(p.namespace, p.name) }

// drainingNode is a node whose pods are being evicted.
type drainingNode struct {
	name string
	// version is the resourceVersion at which the node's pods were listed.
	version   string
	pods      []*pod
	remaining int
	// waiting counts the node's pods in each queue.
	waiting map[*queue]int
	// stopWatch ends the watch of the node's pods.
	stopWatch context.CancelFunc
}

// nodePods is what runs on nodes, and what the drain filters say about it.
type nodePods struct {
	nodes   []*drainingNode
	skipped []SkippedPod
}

// listNodePods lists the pods of all nodes in parallel: one request a node, because
// the API server keeps an index of pods by node and of nothing else that says where
// they run
// (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/strategy.go, NodeNameTriggerFunc).
func (c *Cluster) listNodePods(ctx context.Context, nodes []Node) (nodePods, error) {
	classifier := newPodClassifier(c)
	listed := make([]*drainingNode, len(nodes))
	skipped := make([][]SkippedPod, len(nodes))
	err := Parallel(ctx, len(nodes), func(ctx context.Context, i int) error {
		var err error
		listed[i], skipped[i], err = c.listPodsOfNode(ctx, nodes[i].Name, classifier)
		return err
	})
	if err != nil {
		return nodePods{}, err
	}
	all := nodePods{nodes: listed}
	for _, some := range skipped {
		all.skipped = append(all.skipped, some...)
	}
	return all, nil
}

func (c *Cluster) listPodsOfNode(ctx context.Context, name string, classifier *podClassifier) (*drainingNode,
	[]SkippedPod, error) {
	if name == "" {
		return nil, nil, apierr.New(apierr.Terminal,
			"invalid node: no name (it would select the pods that are not scheduled)")
	}
	var node *drainingNode
	var skipped []SkippedPod
	err := c.Read(ctx, fmt.Sprintf("listing the pods of node %q", name), func(ctx context.Context) error {
		node, skipped = &drainingNode{name: name, waiting: map[*queue]int{}}, nil
		var err error
		node.version, err = c.eachPodOnNode(ctx, name, func(found *corev1.Pod) error {
			filter, err := classifier.classify(ctx, found)
			switch {
			case err != nil:
				return err
			case filter.action == skipPod:
				skipped = append(skipped, SkippedPod{Pod: podName(found.Namespace, found.Name), Node: name, Reason: filter.reason})
			default:
				node.pods = append(node.pods, newPod(found, node, filter.action))
			}
			return nil
		})
		node.remaining = len(node.pods)
		return err
	})
	return node, skipped, err
}

// eachPodOnNode visits the pods of a node, page by page, and gives the version from
// which a watch misses nothing. A pod of another node in the answer is an error:
// whoever answered did not apply the field selector.
func (c *Cluster) eachPodOnNode(ctx context.Context, node string, visit func(*corev1.Pod) error) (version string,
	_ error) {
	options := podsOnNode(node)
	options.Limit = pageSize
	for {
		list, err := c.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
		if err != nil {
			return "", err
		}
		if version == "" {
			version = list.ResourceVersion
		}
		for i := range list.Items {
			found := &list.Items[i]
			if found.Spec.NodeName != node {
				return "", wrongObject("pods of node", node, podName(found.Namespace, found.Name)+" of node "+
					bounded(found.Spec.NodeName))
			}
			if err := visit(found); err != nil {
				return "", err
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return version, nil
		}
	}
}

func podsOnNode(node string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String()}
}
