package apiserver

import (
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is one kind of objects that is served.
type Kind struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
	// conditional: an update needs a resourceVersion, as for leases.
	conditional bool
	// virtual: objects are answered and never stored, as access reviews.
	virtual bool
	// subresources are those that exist at all; they need a handler.
	subresources []string
}

func (k Kind) gvk() schema.GroupVersionKind { return k.GroupVersion().WithKind(k.Kind) }

func (k Kind) verbs() []string {
	if k.virtual {
		return []string{"create"}
	}
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// kinds are served, in the order of discovery.
func kinds() []Kind {
	core, apps, policy := corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion, policyv1.SchemeGroupVersion
	return []Kind{
		{GroupVersionResource: core.WithResource("configmaps"), Kind: "ConfigMap", Namespaced: true},
		{GroupVersionResource: core.WithResource("namespaces"), Kind: "Namespace"},
		{GroupVersionResource: core.WithResource("nodes"), Kind: "Node"},
		{GroupVersionResource: core.WithResource("pods"), Kind: "Pod", Namespaced: true, subresources: []string{"eviction"}},
		{GroupVersionResource: core.WithResource("secrets"), Kind: "Secret", Namespaced: true},
		{GroupVersionResource: apps.WithResource("daemonsets"), Kind: "DaemonSet", Namespaced: true},
		{GroupVersionResource: apps.WithResource("deployments"), Kind: "Deployment", Namespaced: true},
		{GroupVersionResource: apps.WithResource("replicasets"), Kind: "ReplicaSet", Namespaced: true},
		{GroupVersionResource: apps.WithResource("statefulsets"), Kind: "StatefulSet", Namespaced: true},
		{GroupVersionResource: policy.WithResource("poddisruptionbudgets"), Kind: "PodDisruptionBudget", Namespaced: true},
		{
			GroupVersionResource: coordinationv1.SchemeGroupVersion.WithResource("leases"), Kind: "Lease", Namespaced: true,
			conditional: true,
		},
		{
			GroupVersionResource: authorizationv1.SchemeGroupVersion.WithResource("selfsubjectaccessreviews"),
			Kind:                 "SelfSubjectAccessReview", virtual: true,
		},
	}
}
