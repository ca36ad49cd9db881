package cleanup

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"salve/kube"
)

// Owned is one reading of something that is the operator's own besides its custom resources.
type Owned struct {
	kube.Object
	version string
}

// ownedObjects lists what is the operator's own besides its custom resources and its namespace: workloads, and the
// rights that nobody else has by them.
func (o *Operator) ownedObjects(ctx context.Context) ([]Owned, error) {
	workloads, err := o.workloads(ctx)
	if err != nil {
		return nil, err
	}
	var all []Owned
	for _, workload := range workloads {
		all = append(all, Owned{workload.Object, workload.version})
	}
	for _, resource := range []kube.Resource{cronJobs, jobs} {
		found, err := o.ownedOf(ctx, resource)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	var rights []Owned
	err = kube.RetryExpired(func() (err error) {
		rights, err = o.rights(ctx)
		return err
	})
	return append(all, rights...), err
}

// ownedOf lists the objects of a resource that the namespace holds and no controller makes again.
func (o *Operator) ownedOf(ctx context.Context, resource kube.Resource) (all []Owned, _ error) {
	err := kube.RetryExpired(func() error {
		all = nil
		_, err := o.EachObject(ctx, resource, kube.Scope{Namespace: o.Namespace},
			func(found *metav1.PartialObjectMetadata) error {
				if metav1.GetControllerOf(found) == nil {
					all = append(all, Owned{kube.ObjectOf(resource, found), found.ResourceVersion})
				}
				return nil
			})
		return err
	})
	if kube.IsNotFound(err) { // what is not served has no objects
		return nil, nil
	}
	return all, err
}

// bootstrapped labels the roles and bindings that the API server makes itself, and
// makes again when it starts.
const bootstrapped = "kubernetes.io/bootstrapping"

// rights are the bindings whose every subject is of the operator's namespace, the
// cluster roles that are about its group alone, and those that a selector names.
func (o *Operator) rights(ctx context.Context) ([]Owned, error) {
	var selectors []labels.Selector
	for _, text := range o.Selectors {
		selector, err := kube.ParseSelector(text)
		if err != nil {
			return nil, err
		}
		selectors = append(selectors, selector)
	}
	var all []Owned
	add := func(resource kube.Resource, object metav1.Object, own bool) {
		named := slices.ContainsFunc(selectors, func(s labels.Selector) bool {
			return s.Matches(labels.Set(object.GetLabels()))
		})
		_, clusters := object.GetLabels()[bootstrapped]
		if (own || named) && !clusters {
			all = append(all, Owned{kube.ObjectOf(resource, object), object.GetResourceVersion()})
		}
	}
	rbac, every := o.Client.RbacV1(), kube.Scope{}.Options()
	err := kube.ListPages(ctx, o.Cluster, "listing ClusterRoleBindings", every, rbac.ClusterRoleBindings().List,
		func(list *rbacv1.ClusterRoleBindingList) error {
			for i := range list.Items {
				add(clusterRoleBindings, &list.Items[i], subjectsOf(list.Items[i].Subjects, o.Namespace))
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	err = kube.ListPages(ctx, o.Cluster, "listing RoleBindings", every, rbac.RoleBindings(metav1.NamespaceAll).List,
		func(list *rbacv1.RoleBindingList) error {
			for i := range list.Items {
				if binding := &list.Items[i]; binding.Namespace != o.Namespace { // those go with the namespace
					add(roleBindings, binding, subjectsOf(binding.Subjects, o.Namespace))
				}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	err = kube.ListPages(ctx, o.Cluster, "listing ClusterRoles", every, rbac.ClusterRoles().List,
		func(list *rbacv1.ClusterRoleList) error {
			for i := range list.Items {
				add(clusterRoles, &list.Items[i], about(list.Items[i].Rules, o.Group))
			}
			return nil
		})
	return all, err
}

// subjectsOf tells whether there are subjects and all are of a namespace.
func subjectsOf(subjects []rbacv1.Subject, namespace string) bool {
	return len(subjects) > 0 && !slices.ContainsFunc(subjects, func(subject rbacv1.Subject) bool {
		account := subject.Kind == rbacv1.ServiceAccountKind && subject.Namespace == namespace
		accounts := subject.Kind == rbacv1.GroupKind && subject.Name == "system:serviceaccounts:"+namespace
		return !account && !accounts
	})
}

// about tells whether there are rules and all are about a group alone.
func about(rules []rbacv1.PolicyRule, group string) bool {
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		other := slices.ContainsFunc(rule.APIGroups, func(name string) bool { return !inGroup(name, group) })
		return other || len(rule.APIGroups) == 0 || len(rule.NonResourceURLs) > 0
	})
}

// IdleSelectors are those that select no workload, no pod and no rights.
func (o *Operator) IdleSelectors(ctx context.Context) (idle []string, _ error) {
	for _, selector := range o.Selectors {
		busy, err := o.selects(ctx, kube.Scope{Selector: selector})
		if err != nil {
			return nil, err
		}
		if !busy {
			idle = append(idle, selector)
		}
	}
	return idle, nil
}

func (o *Operator) selects(ctx context.Context, in kube.Scope) (bool, error) {
	for _, resource := range []kube.Resource{
		deployments, statefulSets, daemonSets, pods, clusterRoles, clusterRoleBindings, roleBindings,
	} {
		found, err := o.Objects(ctx, resource, in)
		if len(found) > 0 || err != nil {
			return true, err
		}
	}
	return false, nil
}
