package cleanup

import (
	"context"
	"fmt"

	"salve/kube"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Operator is a controller in a cluster, and what it is known by.
type Operator struct {
	*kube.Cluster
	// Group is the API group of its custom resources, with those below it.
	Group string
	// Namespace is its own: all that is in it is the operator's.
	Namespace string
	// Selectors are label selectors of what is its own outside of its namespace.
	Selectors []string
	// Finalizers are its own besides those of its group.
	Finalizers []string
	// Bundle is the file, by its absolute path, that exports go to; without one they are kept in the run's
	// record.
	Bundle string

	leases leaseWatch
}

// scopes are where an operator's namespaced objects are.
func (o *Operator) scopes() []kube.Scope {
	scopes := []kube.Scope{{Namespace: o.Namespace}}
	for _, selector := range o.Selectors {
		scopes = append(scopes, kube.Scope{Selector: selector})
	}
	return scopes
}

// Workload is one reading of something that keeps an operator's pods running.
type Workload struct {
	kube.Object
	Replicas int32
	// Scalable workloads can be stopped without deleting them.
	Scalable bool
	version  string
	// pods selects its pods, in its namespace.
	pods labels.Selector
	// had is the replicas that it had before a run stopped it.
	had int32
}

// String names the workload and its size.
func (w Workload) String() string {
	return fmt.Sprintf("%s with %s", w.Object, count(int(w.Replicas), "replica"))
}

// workloads lists the operator's Deployments, StatefulSets and DaemonSets.
func (o *Operator) workloads(ctx context.Context) ([]Workload, error) {
	seen := map[types.UID]bool{}
	var all []Workload
	add := func(resource kube.Resource, object metav1.Object, pods *metav1.LabelSelector, replicas int32) error {
		if seen[object.GetUID()] {
			return nil
		}
		selector, err := metav1.LabelSelectorAsSelector(pods)
		if err != nil {
			return fmt.Errorf("%s: %w", kube.ObjectOf(resource, object), err)
		}
		seen[object.GetUID()] = true
		all = append(all, Workload{
			Object: kube.ObjectOf(resource, object), Replicas: replicas, Scalable: resource != daemonSets,
			version: object.GetResourceVersion(), pods: selector,
		})
		return nil
	}
	apps := o.Client.AppsV1()
	for _, in := range o.scopes() {
		err := kube.ListPages(ctx, o.Cluster, "listing Deployments", in.Options(), apps.Deployments(in.Namespace).List,
			func(list *appsv1.DeploymentList) error {
				for i := range list.Items {
					one := &list.Items[i]
					if err := add(deployments, one, one.Spec.Selector, replicasOf(one.Spec.Replicas)); err != nil {
						return err
					}
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
		err = kube.ListPages(ctx, o.Cluster, "listing StatefulSets", in.Options(), apps.StatefulSets(in.Namespace).List,
			func(list *appsv1.StatefulSetList) error {
				for i := range list.Items {
					one := &list.Items[i]
					if err := add(statefulSets, one, one.Spec.Selector, replicasOf(one.Spec.Replicas)); err != nil {
						return err
					}
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
		err = kube.ListPages(ctx, o.Cluster, "listing DaemonSets", in.Options(), apps.DaemonSets(in.Namespace).List,
			func(list *appsv1.DaemonSetList) error {
				for i := range list.Items {
					one := &list.Items[i]
					if err := add(daemonSets, one, one.Spec.Selector, one.Status.DesiredNumberScheduled); err != nil {
						return err
					}
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// replicasOf is the number that an absent one means.
func replicasOf(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}
