package cleanup

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/kube"
)

// The resources that an operator's own objects are of.
//
//nolint:gochecknoglobals // constants, but for the language
var (
	namespaces  = global("", "namespaces", "Namespace")
	configMaps  = namespaced("", "configmaps", "ConfigMap")
	secrets     = namespaced("", "secrets", "Secret")
	pods        = namespaced("", "pods", "Pod")
	definitions = global("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition")

	deployments  = namespaced("apps", "deployments", "Deployment")
	statefulSets = namespaced("apps", "statefulsets", "StatefulSet")
	daemonSets   = namespaced("apps", "daemonsets", "DaemonSet")
	jobs         = namespaced("batch", "jobs", "Job")
	cronJobs     = namespaced("batch", "cronjobs", "CronJob")

	clusterRoles        = global(rbacv1.GroupName, "clusterroles", "ClusterRole")
	clusterRoleBindings = global(rbacv1.GroupName, "clusterrolebindings", "ClusterRoleBinding")
	roleBindings        = namespaced(rbacv1.GroupName, "rolebindings", "RoleBinding")

	leases = namespaced("coordination.k8s.io", "leases", "Lease")

	validatingHooks = global(hookGroup, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")
	mutatingHooks   = global(hookGroup, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration")
	apiServices     = global("apiregistration.k8s.io", "apiservices", "APIService")
)

const hookGroup = "admissionregistration.k8s.io"

func hookResources() []kube.Resource {
	return []kube.Resource{validatingHooks, mutatingHooks, apiServices}
}

func ownedResources() []kube.Resource {
	return []kube.Resource{
		deployments, statefulSets, daemonSets, cronJobs, jobs, clusterRoles, clusterRoleBindings, roleBindings,
	}
}

func global(group, plural, kind string) kube.Resource {
	return kube.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}, Kind: kind,
	}
}

func namespaced(group, plural, kind string) kube.Resource {
	resource := global(group, plural, kind)
	resource.Namespaced = true
	return resource
}
