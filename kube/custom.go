package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/fault"
)

// EachCustom visits the objects of a kind that is not compiled in, of a namespace
// or, for an empty one, of all. It holds a page of them at a time. begin is called
// as in EachPod. The error has class Missing where the cluster has no such kind.
func (c *Cluster) EachCustom(ctx context.Context, kind schema.GroupVersionResource, namespace string, begin func(), visit func(*unstructured.Unstructured)) (err error) {
	for range listRounds {
		begin()
		if err = c.eachCustomPage(ctx, kind, namespace, visit); !apierrors.IsResourceExpired(err) {
			return err
		}
	}
	return err
}

func (c *Cluster) eachCustomPage(ctx context.Context, kind schema.GroupVersionResource, namespace string, visit func(*unstructured.Unstructured)) error {
	options := metav1.ListOptions{Limit: page}
	for {
		var list *unstructured.UnstructuredList
		err := c.read(ctx, fmt.Sprintf("listing the %s of %s", kind.GroupResource(), orAll(namespace)), func(ctx context.Context) (err error) {
			list, err = c.Dynamic.Resource(kind).Namespace(namespace).List(ctx, options)
			if apierrors.IsResourceExpired(err) {
				return fault.New(fault.Conflict, "%w", err)
			}
			return err
		})
		if err != nil {
			return err
		}
		for i := range list.Items {
			visit(&list.Items[i])
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}
