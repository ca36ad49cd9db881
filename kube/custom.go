package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EachCustom visits the objects of a kind that is not compiled in, of a namespace
// or, for an empty one, of all. It holds a page of them at a time. begin is called
// as in EachPod. The error has class Missing where the cluster has no such kind.
func (c *Cluster) EachCustom(ctx context.Context, kind schema.GroupVersionResource, namespace string, begin func(), visit func(*unstructured.Unstructured)) error {
	what := fmt.Sprintf("listing the %s of %s", kind.GroupResource(), orAll(namespace))
	list := func(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
		return c.Dynamic.Resource(kind).Namespace(namespace).List(ctx, options)
	}
	return Afresh(func() error {
		begin()
		return eachPage(ctx, c, what, Scope{Namespace: namespace}.options(), list, func(list *unstructured.UnstructuredList) error {
			for i := range list.Items {
				visit(&list.Items[i])
			}
			return nil
		})
	})
}
