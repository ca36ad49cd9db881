package managed

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds are all that is made in namespaces and besides them, those first that make others.
func kinds() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		appsv1.SchemeGroupVersion.WithResource("replicasets"), appsv1.SchemeGroupVersion.WithResource("daemonsets"),
		policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), corev1.SchemeGroupVersion.WithResource("nodes"),
		corev1.SchemeGroupVersion.WithResource("pods"),
	}
}

// Clear removes everything that carries the owner's label, and waits until it is gone. Kubernetes takes five seconds
// for a namespace, even for an empty one.
func (c *Cluster) Clear(ctx context.Context) error {
	if err := c.remove(ctx, kinds()...); err != nil {
		return err
	}
	return c.remove(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"))
}

func (c *Cluster) remove(ctx context.Context, kinds ...schema.GroupVersionResource) error {
	return c.until(ctx, "clearing the given cluster of what an embedded Azure made there", func(
		ctx context.Context,
	) error {
		left := 0
		for _, kind := range kinds {
			found, err := c.sweep(ctx, kind)
			if err != nil {
				return fmt.Errorf("removing %s: %w", kind.Resource, err)
			}
			left += found
		}
		if left > 0 {
			return fmt.Errorf("%d objects are still being removed", left)
		}
		return nil
	})
}

// sweep deletes the objects of a kind and says how many were there. Pods get no grace: their nodes go as well.
func (c *Cluster) sweep(ctx context.Context, kind schema.GroupVersionResource) (int, error) {
	found, err := c.objects.Resource(kind).List(ctx, c.owned())
	if err != nil {
		return 0, err
	}
	background, at := metav1.DeletePropagationBackground, int64(0)
	for _, object := range found.Items {
		if object.DeletionTimestamp != nil && kind.Resource != "pods" {
			continue
		}
		options := metav1.DeleteOptions{
			Preconditions: metav1.NewUIDPreconditions(string(object.UID)), PropagationPolicy: &background,
		}
		if kind.Resource == "pods" {
			options.GracePeriodSeconds = &at
		}
		err := c.objects.Resource(kind).Namespace(object.Namespace).Delete(ctx, object.Name, options)
		if unlessMissing(err) != nil && !apierrors.IsConflict(err) {
			return 0, fmt.Errorf("%s: %w", object.Name, err)
		}
	}
	return len(found.Items), nil
}
