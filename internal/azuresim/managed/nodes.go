package managed

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// animated asks a kwok that does not manage all nodes to manage this one.
const animated, asFake = "kwok.x-k8s.io/node", "fake"

// AddNode registers a machine. kwok makes it Ready as soon as it sees it.
func (c *Cluster) AddNode(node *corev1.Node) {
	added := node.DeepCopy()
	c.own(added)
	if added.Annotations == nil {
		added.Annotations = map[string]string{}
	}
	added.Annotations[animated] = asFake
	c.queue.add("adding node "+added.Name, func(ctx context.Context) error {
		_, err := c.client.CoreV1().Nodes().Create(ctx, added, metav1.CreateOptions{})
		return c.unlessOurs(err, func() (metav1.Object, error) {
			return c.client.CoreV1().Nodes().Get(ctx, added.Name, metav1.GetOptions{})
		})
	})
}

// SetReady does nothing: in the place of a kubelet, kwok says when a node is Ready.
func (c *Cluster) SetReady(string) {}

// Cordon makes a node unschedulable. One that is gone is no error.
func (c *Cluster) Cordon(node string) {
	c.queue.add("cordoning node "+node, func(ctx context.Context) error {
		patch := []byte(`{"spec":{"unschedulable":true}}`)
		_, err := c.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
		return unlessMissing(err)
	})
}

// Empty deletes the pods of nodes but those of DaemonSets, which asks no budget and grants each its grace.
func (c *Cluster) Empty(nodes []string) {
	for _, node := range nodes {
		c.empty(node)
	}
}

func (c *Cluster) empty(node string) {
	c.queue.add("emptying node "+node, func(ctx context.Context) error {
		return c.deletePods(ctx, node, metav1.DeleteOptions{}, func(pod *corev1.Pod) bool {
			owner := metav1.GetControllerOf(pod)
			return pod.DeletionTimestamp == nil && (owner == nil || owner.Kind != "DaemonSet")
		})
	})
}

// RemoveNode deletes a node, and then without grace what ran there, which nobody would end any more.
func (c *Cluster) RemoveNode(node string) {
	c.queue.add("removing node "+node, func(ctx context.Context) error {
		if err := unlessMissing(c.client.CoreV1().Nodes().Delete(ctx, node, metav1.DeleteOptions{})); err != nil {
			return err
		}
		at := int64(0)
		return c.deletePods(ctx, node, metav1.DeleteOptions{GracePeriodSeconds: &at}, func(*corev1.Pod) bool { return true })
	})
}

func (c *Cluster) deletePods(
	ctx context.Context, node string, options metav1.DeleteOptions, which func(*corev1.Pod) bool,
) error {
	pods, err := c.podsOn(ctx, node)
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		if !which(pod) {
			continue
		}
		options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
		err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
		if unlessMissing(err) != nil && !apierrors.IsConflict(err) { // a conflict: another pod has its name by now
			return fmt.Errorf("deleting pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

func (c *Cluster) podsOn(ctx context.Context, node string) ([]corev1.Pod, error) {
	on := fields.OneTermEqualSelector("spec.nodeName", node).String()
	pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: on})
	if err != nil {
		return nil, fmt.Errorf("listing its pods: %w", err)
	}
	return pods.Items, nil
}

func unlessMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unlessOurs forgives that an object is there already when it was made here, as after an answer that was lost.
func (c *Cluster) unlessOurs(err error, get func() (metav1.Object, error)) error {
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	object, err := get()
	switch {
	case err != nil:
		return err
	case object.GetLabels()[OwnerLabel] != c.owner:
		return errForeign
	case object.GetDeletionTimestamp() != nil:
		return fmt.Errorf("the one before it is still being removed")
	}
	return nil
}
