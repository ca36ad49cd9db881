package stranded

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"salve/internal/apierr"
	"salve/kube"
)

// Search finds pods of one kind in the wrong places.
type Search struct {
	*kube.Cluster
	// Selector is the label selector of the pods.
	Selector string
	// Expected are the namespaces where such pods belong.
	Expected []string

	mu sync.Mutex
	// gone are pods of which the API server said that they are not found. A UID never comes back.
	gone map[types.UID]bool
}

// CheckNamespaces finds names that no namespace can have; empty ones are passed over.
func CheckNamespaces(names []string) error {
	for _, name := range names {
		if name != "" && len(validation.IsDNS1123Label(name)) > 0 {
			return apierr.New(apierr.Terminal, "%q is no name of a namespace", name)
		}
	}
	return nil
}

// Pods reads the pods of a scope.
func (s *Search) Pods(ctx context.Context, in kube.Scope) (pods []Pod, err error) {
	_, err = s.EachPod(ctx, in, func() { pods = nil }, func(pod *corev1.Pod) error {
		pods = append(pods, podOf(pod))
		return nil
	})
	return pods, err
}

// EachPod visits the pods of a scope, and holds a page of them at a time. All are of
// one moment; version is that from which a watch misses nothing. begin is called before the
// first pod, and again when the list has to be restarted: what was visited is
// void then. The error of a visit ends it.
func (s *Search) EachPod(
	ctx context.Context, in kube.Scope, begin func(), visit func(*corev1.Pod) error,
) (version string, _ error) {
	what := fmt.Sprintf("listing the pods (%s) of %s", in.Selector, orAll(in.Namespace))
	list := func(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
		return s.Client.CoreV1().Pods(in.Namespace).List(ctx, options)
	}
	err := kube.RetryExpired(func() error {
		begin()
		version = ""
		return kube.ListPages(ctx, s.Cluster, what, in.Options(), list, func(list *corev1.PodList) error {
			if version == "" {
				version = list.ResourceVersion
			}
			for i := range list.Items {
				if err := visit(&list.Items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return version, err
}

func orAll(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return "all namespaces"
	}
	return "namespace " + namespace
}
