package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"salve/internal/apierr"
	"salve/kube"
)

// page is one page of a list.
type page struct {
	metav1.ListInterface
	objects []metav1.Object
}

// kind is how objects of a kind are reached and read. An empty namespace is all of them.
type kind[T any] struct {
	// name is its plural, for messages.
	name  string
	list  func(ctx context.Context, namespace string, options metav1.ListOptions) (page, error)
	watch func(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error)
	get   func(ctx context.Context, namespace, name string) error
	// selector is a label selector.
	selector string
	read     func(metav1.Object) (T, error)
}

// pods are the pods with Prow's label. They are read whole, for their status is needed, and none is kept.
func pods(c *kube.Cluster) kind[Pod] {
	return kind[Pod]{
		name: "pods", selector: Selector,
		list: func(ctx context.Context, namespace string, options metav1.ListOptions) (page, error) {
			list, err := c.Client.CoreV1().Pods(namespace).List(ctx, options)
			if err != nil {
				return page{}, err
			}
			found := page{list, make([]metav1.Object, len(list.Items))}
			for i := range list.Items {
				found.objects[i] = &list.Items[i]
			}
			return found, nil
		},
		watch: func(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error) {
			return c.Client.CoreV1().Pods(namespace).Watch(ctx, options)
		},
		get: func(ctx context.Context, namespace, name string) error {
			_, err := c.Client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
			return err
		},
		read: func(object metav1.Object) (Pod, error) {
			pod, ok := object.(*corev1.Pod)
			if !ok {
				return Pod{}, fmt.Errorf("it is %T", object)
			}
			return podOf(pod)
		},
	}
}

// jobs are the ProwJobs.
func jobs(c *kube.Cluster) kind[Job] {
	resource := schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}
	return kind[Job]{
		name: "ProwJobs",
		list: func(ctx context.Context, namespace string, options metav1.ListOptions) (page, error) {
			list, err := c.Dynamic.Resource(resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return page{}, c.ConfirmNotServed(ctx, resource, err)
			}
			found := page{list, make([]metav1.Object, len(list.Items))}
			for i := range list.Items {
				found.objects[i] = &list.Items[i]
			}
			return found, nil
		},
		watch: func(ctx context.Context, namespace string, options metav1.ListOptions) (watch.Interface, error) {
			return c.Dynamic.Resource(resource).Namespace(namespace).Watch(ctx, options)
		},
		get: func(ctx context.Context, namespace, name string) error {
			_, err := c.Dynamic.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
			return err
		},
		read: func(object metav1.Object) (Job, error) {
			job, ok := object.(*unstructured.Unstructured)
			if !ok {
				return Job{}, fmt.Errorf("it is %T", object)
			}
			return jobOf(job)
		},
	}
}

// Malformed is an object that can't be read. What it is about is not known.
type Malformed struct {
	Namespace, Name string
	UID             types.UID
	// Why names the field that can't be read.
	Why error
	// Pod is what of a pod can be read all the same: its metadata and, unless its Phase is empty, what it does. Nil for
	// what is no pod.
	Pod *Pod
}

func (m Malformed) String() string { return fmt.Sprintf("%s/%s: %s", m.Namespace, m.Name, m.Why) }

// malformed gives an object that can't be read as a whole. Everything but its name may be wrong.
func malformed[T any](object metav1.Object, read T, why error) Malformed {
	found := Malformed{Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), Why: why}
	if pod, ok := any(read).(Pod); ok && pod.Name != "" {
		found.Pod = &pod
	}
	return found
}

// each visits the objects of a namespace, a page at a time, and gives the version from which a watch misses nothing.
// begin is called before the first, and again when the list has to be restarted: what was visited is void then.
func (k kind[T]) each(
	ctx context.Context, c *kube.Cluster, namespace string, begin func(), visit func(metav1.Object),
) (version string, _ error) {
	what := fmt.Sprintf("listing the %s of %s", k.name, orAll(namespace))
	scope := kube.Scope{Namespace: namespace, Selector: k.selector}
	list := func(ctx context.Context, options metav1.ListOptions) (page, error) {
		return k.list(ctx, namespace, options)
	}
	err := kube.RetryExpired(func() error {
		begin()
		version = ""
		return kube.ListPages(ctx, c, what, scope.Options(), list, func(found page) error {
			if version == "" {
				version = found.GetResourceVersion()
			}
			for _, object := range found.objects {
				if got := object.GetNamespace(); namespace != "" && got != namespace {
					return apierr.New(apierr.Transient, "%s: got an object of namespace %q", what, bounded(got))
				}
				visit(object)
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
