package azuresim

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/azuresim/apiserver"
)

//nolint:gochecknoglobals // constants, but for the language
var (
	namespaces  = corev1.SchemeGroupVersion.WithResource("namespaces")
	nodes       = corev1.SchemeGroupVersion.WithResource("nodes")
	pods        = corev1.SchemeGroupVersion.WithResource("pods")
	daemonSets  = appsv1.SchemeGroupVersion.WithResource("daemonsets")
	replicaSets = appsv1.SchemeGroupVersion.WithResource("replicasets")
	budgets     = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
)

// controlPlane is the embedded cluster: an API server, and as much of the controllers as a drain and a new node need.
type controlPlane struct {
	api   *apiserver.Server
	time  *eventQueue
	names *seeded
	now   func() metav1.Time
	// settling: the controllers are about to look.
	settling bool
	// denies tells whether calls like this one are refused at the moment, for access reviews.
	denies func(Call) bool
}

func newControlPlane(names *seeded, clock *eventQueue) *controlPlane {
	c := &controlPlane{time: clock, names: names, now: func() metav1.Time { return metav1.NewTime(clock.now) }}
	c.api = apiserver.New(apiserver.Identity{
		Now: c.now,
		UID: func(of string) types.UID { return types.UID(names.uuid("uid of " + of)) },
		Suffix: func(namespace, prefix string) string {
			return names.suffix(namespace, prefix, strconv.Itoa(names.next(namespace+"/"+prefix)))
		},
	})
	c.api.Handle("create", "pods/eviction", c.evict)
	c.api.Handle("delete", "pods", c.deletePod)
	c.api.Handle("create", "selfsubjectaccessreviews", c.reviewAccess)
	for _, name := range []string{
		metav1.NamespaceDefault, corev1.NamespaceNodeLease, metav1.NamespacePublic, metav1.NamespaceSystem,
	} {
		c.ensureNamespace(name)
	}
	return c
}

func (c *controlPlane) store() *apiserver.Store { return c.api.Store }

func (c *controlPlane) ensureNamespace(name string) {
	if _, err := c.store().Get(namespaces, "", name); err == nil {
		return
	}
	c.mustCreate(namespaces, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}, "")
}

// AddNode implements Kubernetes.
func (c *controlPlane) AddNode(node *corev1.Node) {
	if c.node(node.Name) != nil {
		return
	}
	c.mustCreate(nodes, node, "")
	c.settle()
}

func (c *controlPlane) node(name string) *corev1.Node {
	object, err := c.store().Get(nodes, "", name)
	if err != nil {
		return nil
	}
	node, _ := object.(*corev1.Node)
	return node
}

// SetReady implements Kubernetes.
func (c *controlPlane) SetReady(name string) {
	if node := c.node(name); node != nil {
		apiserver.Edit(c.store(), nodes, node, func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{readiness(true, c.now())}
		})
		c.settle()
	}
}

// Cordon implements Kubernetes.
func (c *controlPlane) Cordon(name string) {
	if node := c.node(name); node != nil && !node.Spec.Unschedulable {
		apiserver.Edit(c.store(), nodes, node, func(n *corev1.Node) { n.Spec.Unschedulable = true })
		c.settle()
	}
}

// RemoveNode implements Kubernetes.
func (c *controlPlane) RemoveNode(name string) {
	if c.node(name) == nil {
		return
	}
	_ = c.store().Delete(nodes, "", name, nil) // it exists
	c.settle()
}

// Start implements Kubernetes: the pods run at once where there is room.
func (c *controlPlane) Start(workloads Workloads) {
	for _, set := range workloads.DaemonSets {
		c.mustCreate(daemonSets, set, set.Namespace)
	}
	for _, set := range workloads.ReplicaSets {
		c.ensureNamespace(set.Namespace)
		c.mustCreate(replicaSets, set, set.Namespace)
	}
	for _, budget := range workloads.Budgets {
		c.mustCreate(budgets, budget, budget.Namespace)
	}
	c.reconcile()
	apiserver.Each(c.store(), pods, c.schedule)
	c.reconcile()
}

// SetBudget implements Kubernetes.
func (c *controlPlane) SetBudget(budget *policyv1.PodDisruptionBudget) {
	_ = c.store().Delete(budgets, budget.Namespace, budget.Name, nil) // there may be none
	c.mustCreate(budgets, budget, budget.Namespace)
	c.reconcile()
}

// RemoveBudget implements Kubernetes.
func (c *controlPlane) RemoveBudget(namespace, name string) {
	_ = c.store().Delete(budgets, namespace, name, nil) // an operator may have removed it
	c.reconcile()
}

// mustCreate stores an object of the model's own making, whose name is new.
func (c *controlPlane) mustCreate(resource resource, object runtime.Object, namespace string) {
	if _, err := c.store().Create(resource, object, namespace); err != nil {
		panic(fmt.Sprintf("azuresim: creating its own %s: %v", resource.Resource, err))
	}
}
