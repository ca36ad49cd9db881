package cleanup

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/kube"
)

var (
	jobs                = kube.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job", Namespaced: true}
	cronJobs            = kube.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}, Kind: "CronJob", Namespaced: true}
	clusterRoles        = rbacResource("clusterroles", "ClusterRole", false)
	clusterRoleBindings = rbacResource("clusterrolebindings", "ClusterRoleBinding", false)
	roleBindings        = rbacResource("rolebindings", "RoleBinding", true)
)

func rbacResource(plural, kind string, namespaced bool) kube.Resource {
	return kube.Resource{GroupVersionResource: schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: plural}, Kind: kind, Namespaced: namespaced}
}

// belongings lists what is the operator's own besides its custom resources and its
// namespace: workloads, and the rights that nobody else has by them.
func (o *Operator) ownedObjects(ctx context.Context) ([]kube.Object, error) {
	workloads, err := o.workloads(ctx)
	if err != nil {
		return nil, err
	}
	var all []kube.Object
	for _, workload := range workloads {
		all = append(all, workload.Object)
	}
	for _, resource := range []kube.Resource{cronJobs, jobs} {
		found, err := o.Objects(ctx, resource, kube.Scope{Namespace: o.Namespace})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	rights, err := o.rights(ctx)
	return append(all, rights...), err
}

// bootstrapped labels the roles and bindings that the API server makes itself, and
// makes again when it starts.
const bootstrapped = "kubernetes.io/bootstrapping"

// rights are the bindings whose every subject is of the operator's namespace, the
// cluster roles that are about its group alone, and those that a selector names.
func (o *Operator) rights(ctx context.Context) ([]kube.Object, error) {
	var selectors []labels.Selector
	for _, text := range o.Selectors {
		selector, err := kube.ParseSelector(text)
		if err != nil {
			return nil, err
		}
		selectors = append(selectors, selector)
	}
	var all []kube.Object
	add := func(resource kube.Resource, object metav1.Object, own bool) {
		named := slices.ContainsFunc(selectors, func(s labels.Selector) bool { return s.Matches(labels.Set(object.GetLabels())) })
		_, clusters := object.GetLabels()[bootstrapped]
		if (own || named) && !clusters {
			all = append(all, kube.ObjectOf(resource, object))
		}
	}
	rbac, every := o.Client.RbacV1(), kube.Scope{}.Options()
	err := kube.ListPages(ctx, o.Cluster, "listing ClusterRoleBindings", every, rbac.ClusterRoleBindings().List, func(list *rbacv1.ClusterRoleBindingList) error {
		for i := range list.Items {
			add(clusterRoleBindings, &list.Items[i], subjectsOf(list.Items[i].Subjects, o.Namespace))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = kube.ListPages(ctx, o.Cluster, "listing RoleBindings", every, rbac.RoleBindings(metav1.NamespaceAll).List, func(list *rbacv1.RoleBindingList) error {
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
	err = kube.ListPages(ctx, o.Cluster, "listing ClusterRoles", every, rbac.ClusterRoles().List, func(list *rbacv1.ClusterRoleList) error {
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
