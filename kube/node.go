package kube

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
)

// CordonedBy is the annotation that names the run which cordoned a node.
const CordonedBy = "salve-cordoned-by"

// Node is one reading of a node.
type Node struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
	// Ready is the node's own Ready condition.
	Ready bool `json:"ready"`
	// Unschedulable nodes are cordoned, by whomever.
	Unschedulable bool `json:"unschedulable"`
	// CordonedBy names the run that cordoned the node; empty when no run did.
	CordonedBy string `json:"cordonedBy"`
	Deleting   bool   `json:"deleting"`
	// notReady is why the node says that it isn't Ready, for people; it decides nothing.
	notReady string `json:"-"`
	// version is for changes, and decides nothing.
	version string `json:"-"`
}

// Serving tells whether pods can be scheduled to the node and run there.
func (n Node) Serving() bool { return n.Ready && !n.Unschedulable && !n.Deleting }

// Trouble says why a node does not serve; empty for one that does.
func (n Node) Trouble() string {
	switch {
	case n.Deleting:
		return "is being deleted"
	case !n.Ready && n.notReady == "":
		return "has no condition Ready yet"
	case !n.Ready:
		return n.notReady
	case n.CordonedBy != "":
		return "is cordoned by run " + bounded(n.CordonedBy)
	case n.Unschedulable:
		return "is cordoned"
	}
	return ""
}

// whyNot words a condition Ready that isn't true.
func whyNot(ready corev1.NodeCondition) string {
	text := "is not Ready"
	if ready.Status == corev1.ConditionUnknown {
		text = "is not heard of" // the node controller's word for a kubelet that is silent
	}
	if !ready.LastTransitionTime.IsZero() {
		text += " since " + ready.LastTransitionTime.UTC().Format("15:04:05") + " UTC"
	}
	if said := strings.Trim(ready.Reason+": "+ready.Message, ": "); said != "" {
		text += " (" + bounded(said) + ")"
	}
	return text
}

func nodeOf(node *corev1.Node) Node {
	seen := Node{
		Name: node.Name, UID: node.UID, Unschedulable: node.Spec.Unschedulable,
		CordonedBy: node.Annotations[CordonedBy], Deleting: node.DeletionTimestamp != nil, version: node.ResourceVersion,
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			seen.Ready = condition.Status == corev1.ConditionTrue
			seen.notReady = whyNot(condition)
		}
	}
	return seen
}

// Nodes lists the nodes that match a label selector; all for an empty one. An empty
// list says only that no node has the labels now: VerifyNodes compares it with what
// else is known.
func (c *Cluster) Nodes(ctx context.Context, selector string) ([]Node, error) {
	list, err := c.listNodes(ctx, selector)
	if err != nil {
		return nil, err
	}
	nodes := make([]Node, 0, len(list.Items))
	for i := range list.Items {
		nodes = append(nodes, nodeOf(&list.Items[i]))
	}
	return nodes, nil
}

// listNodes lists nodes. A node in the answer that the selector does not match is
// an error: whoever answered did not apply the selector.
func (c *Cluster) listNodes(ctx context.Context, selector string) (*corev1.NodeList, error) {
	wanted, err := labels.Parse(selector)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "invalid node selector %q: %w", selector, err)
	}
	var list *corev1.NodeList
	err = c.Read(ctx, fmt.Sprintf("listing nodes (%s)", selector), func(ctx context.Context) (err error) {
		list, err = c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if node := &list.Items[i]; !wanted.Matches(labels.Set(node.Labels)) {
				return wrongObject("nodes", selector, bounded(node.Name))
			}
		}
		return nil
	})
	return list, err
}
