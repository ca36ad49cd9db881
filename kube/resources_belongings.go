package kube

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/fault"
)

var (
	jobs                = Resource{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job", Namespaced: true}
	cronJobs            = Resource{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}, Kind: "CronJob", Namespaced: true}
	clusterRoles        = rbacResource("clusterroles", "ClusterRole", false)
	clusterRoleBindings = rbacResource("clusterrolebindings", "ClusterRoleBinding", false)
	roleBindings        = rbacResource("rolebindings", "RoleBinding", true)
	namespaces          = Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Kind: "Namespace"}
)

func rbacResource(plural, kind string, namespaced bool) Resource {
	return Resource{GroupVersionResource: schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: plural}, Kind: kind, Namespaced: namespaced}
}

// Belongings lists what is an operator's own besides its custom resources and its
// namespace: workloads, and the rights that nobody else has by them.
func (c *Cluster) Belongings(ctx context.Context, of Operator) ([]Object, error) {
	workloads, err := c.Workloads(ctx, of)
	if err != nil {
		return nil, err
	}
	var all []Object
	for _, workload := range workloads {
		all = append(all, workload.Object)
	}
	for _, resource := range []Resource{cronJobs, jobs} {
		found, err := c.Objects(ctx, resource, Scope{Namespace: of.Namespace})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	rights, err := c.rights(ctx, of)
	return append(all, rights...), err
}

// rights are the bindings whose every subject is of the operator's namespace, the
// cluster roles that are about its group alone, and those that a selector names.
func (c *Cluster) rights(ctx context.Context, of Operator) ([]Object, error) {
	var selectors []labels.Selector
	for _, text := range of.Selectors {
		selector, err := labels.Parse(text)
		if err != nil || selector.Empty() {
			return nil, fault.New(fault.Terminal, "label selector %q: it selects nothing in particular", text)
		}
		selectors = append(selectors, selector)
	}
	var all []Object
	add := func(resource Resource, object metav1.Object, own bool) {
		named := slices.ContainsFunc(selectors, func(s labels.Selector) bool { return s.Matches(labels.Set(object.GetLabels())) })
		if own || named {
			all = append(all, objectOf(resource, object))
		}
	}
	rbac, every := c.Client.RbacV1(), Scope{}.options()
	err := eachPage(ctx, c, "listing ClusterRoleBindings", every, rbac.ClusterRoleBindings().List, func(list *rbacv1.ClusterRoleBindingList) error {
		for i := range list.Items {
			add(clusterRoleBindings, &list.Items[i], subjectsOf(list.Items[i].Subjects, of.Namespace))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachPage(ctx, c, "listing RoleBindings", every, rbac.RoleBindings(metav1.NamespaceAll).List, func(list *rbacv1.RoleBindingList) error {
		for i := range list.Items {
			if binding := &list.Items[i]; binding.Namespace != of.Namespace { // those go with the namespace
				add(roleBindings, binding, subjectsOf(binding.Subjects, of.Namespace))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = eachPage(ctx, c, "listing ClusterRoles", every, rbac.ClusterRoles().List, func(list *rbacv1.ClusterRoleList) error {
		for i := range list.Items {
			add(clusterRoles, &list.Items[i], about(list.Items[i].Rules, of.Group))
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
		other := slices.ContainsFunc(rule.APIGroups, func(name string) bool { return !InGroup(name, group) })
		return other || len(rule.APIGroups) == 0 || len(rule.NonResourceURLs) > 0
	})
}
