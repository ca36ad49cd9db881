package stranded

import (
	"context"
	"fmt"

	"salve/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// eachCustom visits the objects of a kind that is not compiled in, of a namespace
// or, for an empty one, of all. It holds a page of them at a time. begin is called
// as in EachPod. The error has class Missing where the cluster has no such kind.
func (s *Search) eachCustom(
	ctx context.Context, kind schema.GroupVersionResource, namespace string,
	begin func(), visit func(*unstructured.Unstructured),
) error {
	what := fmt.Sprintf("listing the %s of %s", kind.GroupResource(), orAll(namespace))
	list := func(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
		page, err := s.Dynamic.Resource(kind).Namespace(namespace).List(ctx, options)
		return page, s.ConfirmNotServed(ctx, kind, err)
	}
	return kube.RetryExpired(func() error {
		begin()
		return kube.ListPages(ctx, s.Cluster, what, kube.Scope{Namespace: namespace}.Options(), list,
			func(list *unstructured.UnstructuredList) error {
				for i := range list.Items {
					visit(&list.Items[i])
				}
				return nil
			})
	})
}
