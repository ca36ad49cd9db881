package azuresim

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var (
	nodes       = corev1.SchemeGroupVersion.WithResource("nodes")
	pods        = corev1.SchemeGroupVersion.WithResource("pods")
	daemonSets  = appsv1.SchemeGroupVersion.WithResource("daemonsets")
	replicaSets = appsv1.SchemeGroupVersion.WithResource("replicasets")
	budgets     = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
)

// controlPlane is the embedded cluster: the objects, and as much of the controllers as a drain and a new node need.
type controlPlane struct {
	*objects
	time  *timetable
	names *seeded
}

func newControlPlane(names *seeded, clock *timetable) *controlPlane {
	now := func() metav1.Time { return metav1.NewTime(clock.now) }
	return &controlPlane{objects: newObjects(names, now), time: clock, names: names}
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
	object, err := c.find(nodes, "", name)
	if err != nil {
		return nil
	}
	node, _ := object.(*corev1.Node)
	return node
}

// SetReady implements Kubernetes.
func (c *controlPlane) SetReady(name string) {
	if node := c.node(name); node != nil {
		edit(c.objects, nodes, node, func(n *corev1.Node) { n.Status.Conditions = []corev1.NodeCondition{readiness(true, c.now())} })
		c.settle()
	}
}

// Cordon implements Kubernetes.
func (c *controlPlane) Cordon(name string) {
	if node := c.node(name); node != nil && !node.Spec.Unschedulable {
		edit(c.objects, nodes, node, func(n *corev1.Node) { n.Spec.Unschedulable = true })
		c.settle()
	}
}

// Empty implements Kubernetes.
func (c *controlPlane) Empty(node string) {
	each(c.objects, pods, func(pod *corev1.Pod) {
		if pod.Spec.NodeName == node && !ownedBy(pod, "DaemonSet") {
			c.terminate(pod, nil)
		}
	})
	c.settle()
}

// RemoveNode implements Kubernetes.
func (c *controlPlane) RemoveNode(name string) {
	if c.node(name) == nil {
		return
	}
	_ = c.Delete(nodes, "", name) // it exists
	c.settle()
}

// Start implements Kubernetes: the pods run at once where there is room.
func (c *controlPlane) Start(workloads Workloads) {
	for _, set := range workloads.DaemonSets {
		c.mustCreate(daemonSets, set, set.Namespace)
	}
	for _, set := range workloads.ReplicaSets {
		c.mustCreate(replicaSets, set, set.Namespace)
	}
	for _, budget := range workloads.Budgets {
		c.mustCreate(budgets, budget, budget.Namespace)
	}
	c.settle()
	each(c.objects, pods, c.place)
	c.settle()
}

// SetBudget implements Kubernetes.
func (c *controlPlane) SetBudget(budget *policyv1.PodDisruptionBudget) {
	_ = c.Delete(budgets, budget.Namespace, budget.Name) // there may be none
	c.mustCreate(budgets, budget, budget.Namespace)
	c.settle()
}

// RemoveBudget implements Kubernetes.
func (c *controlPlane) RemoveBudget(namespace, name string) {
	_ = c.Delete(budgets, namespace, name) // a person may have removed it
	c.settle()
}

// mustCreate stores an object of the model's own making, whose name is new.
func (c *controlPlane) mustCreate(resource resource, object runtime.Object, namespace string) {
	if err := c.Create(resource, object, namespace); err != nil {
		panic(fmt.Sprintf("azuresim: creating its own %s: %v", resource.Resource, err))
	}
}
