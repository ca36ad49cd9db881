package azuresim

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"salve/internal/azuresim/apiserver"
)

type resource = schema.GroupVersionResource

// schedulingDelay is how long a new pod takes to get to a node that has room for it.
const schedulingDelay = 2 * time.Second

// reconcile lets every controller look once: pods of lost nodes go, DaemonSets and ReplicaSets make the pods that they
// miss, waiting pods are placed, and budgets are counted.
func (c *controlPlane) reconcile() {
	apiserver.Each(c.store(), pods, func(pod *corev1.Pod) {
		if pod.Spec.NodeName != "" && c.node(pod.Spec.NodeName) == nil {
			c.remove(pod)
		}
	})
	apiserver.Each(c.store(), daemonSets, c.runDaemons)
	apiserver.Each(c.store(), replicaSets, c.runReplicas)
	apiserver.Each(c.store(), pods, func(pod *corev1.Pod) {
		if c.time.now.Sub(pod.CreationTimestamp.Time) >= schedulingDelay {
			c.schedule(pod)
		}
	})
	apiserver.Each(c.store(), budgets, c.countBudget)
}

// settle lets the controllers look once, after everything that happens at this time.
func (c *controlPlane) settle() {
	if c.settling {
		return
	}
	c.settling = true
	c.time.after(0, func() {
		c.settling = false
		c.reconcile()
	})
}

// remove ends a pod at once.
func (c *controlPlane) remove(pod *corev1.Pod) {
	_ = c.store().Delete(pods, pod.Namespace, pod.Name, nil) // 404: it ended before
}

func (c *controlPlane) runDaemons(set *appsv1.DaemonSet) {
	apiserver.Each(c.store(), nodes, func(node *corev1.Node) {
		name := set.Name + "-" + c.names.suffix("daemon", set.Name, node.Name)
		if _, err := c.store().Get(pods, set.Namespace, name); err == nil {
			return
		}
		pod := podOf(set, "DaemonSet", set.Spec.Template)
		pod.Name = name
		pod.Spec.NodeName = node.Name
		pod.Status = c.running()
		c.mustCreate(pods, pod, set.Namespace)
	})
}

// runReplicas makes new pods for those that are missing or ending, and looks again when they can be placed.
func (c *controlPlane) runReplicas(set *appsv1.ReplicaSet) {
	missing := int(*set.Spec.Replicas)
	apiserver.Each(c.store(), pods, func(pod *corev1.Pod) {
		if pod.DeletionTimestamp == nil && metav1.IsControlledBy(pod, set) {
			missing--
		}
	})
	for range max(missing, 0) {
		pod := podOf(set, "ReplicaSet", set.Spec.Template)
		pod.GenerateName = set.Name + "-"
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
		c.mustCreate(pods, pod, set.Namespace)
		c.time.after(schedulingDelay, c.reconcile)
	}
}

func podOf(owner metav1.Object, kind string, template corev1.PodTemplateSpec) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Labels:          template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind(kind))},
		},
		Spec: *template.Spec.DeepCopy(),
	}
}

func (c *controlPlane) running() corev1.PodStatus {
	started := c.now()
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		StartTime:  &started,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: started}},
	}
}

func ownedBy(pod *corev1.Pod, kind string) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == kind
}

// schedule gives a waiting pod the Ready, schedulable node with the fewest pods of its kind, then of any.
func (c *controlPlane) schedule(pod *corev1.Pod) {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return
	}
	alike, all := map[string]int{}, map[string]int{}
	apiserver.Each(c.store(), pods, func(other *corev1.Pod) {
		all[other.Spec.NodeName]++
		if other.Labels[appLabel] == pod.Labels[appLabel] {
			alike[other.Spec.NodeName]++
		}
	})
	best := ""
	apiserver.Each(c.store(), nodes, func(node *corev1.Node) {
		if !fits(node, pod) {
			return
		}
		if best == "" || alike[node.Name] < alike[best] || alike[node.Name] == alike[best] && all[node.Name] < all[best] {
			best = node.Name
		}
	})
	if best == "" {
		return
	}
	apiserver.Edit(c.store(), pods, pod, func(p *corev1.Pod) {
		p.Spec.NodeName = best
		p.Status = c.running()
	})
}

func fits(node *corev1.Node, pod *corev1.Pod) bool {
	if node.Spec.Unschedulable || !isReady(node) ||
		!labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	return !slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(pod, taint)
	})
}

// tolerates knows the operators Exists and Equal.
func tolerates(pod *corev1.Pod, taint corev1.Taint) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) &&
			(t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
	})
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
		return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	})
}

// countBudget brings a budget's status up to date.
func (c *controlPlane) countBudget(budget *policyv1.PodDisruptionBudget) {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil {
		return
	}
	expected, healthy := 0, 0
	apiserver.Each(c.store(), pods, func(pod *corev1.Pod) {
		if pod.Namespace != budget.Namespace || !selector.Matches(labels.Set(pod.Labels)) || pod.DeletionTimestamp != nil {
			return
		}
		expected++
		if pod.Status.Phase == corev1.PodRunning {
			healthy++
		}
	})
	desired := 0
	switch {
	case budget.Spec.MinAvailable != nil:
		desired, err = intstr.GetScaledValueFromIntOrPercent(budget.Spec.MinAvailable, expected, true)
	case budget.Spec.MaxUnavailable != nil:
		desired, err = intstr.GetScaledValueFromIntOrPercent(budget.Spec.MaxUnavailable, expected, true)
		desired = expected - desired
	}
	if err != nil {
		return
	}
	status := policyv1.PodDisruptionBudgetStatus{
		ExpectedPods: int32(expected), CurrentHealthy: int32(healthy), DesiredHealthy: int32(desired),
		DisruptionsAllowed: int32(max(healthy-desired, 0)), ObservedGeneration: budget.Generation,
	}
	old := budget.Status
	if old.ExpectedPods == status.ExpectedPods && old.CurrentHealthy == status.CurrentHealthy &&
		old.DesiredHealthy == status.DesiredHealthy && old.DisruptionsAllowed == status.DisruptionsAllowed {
		return
	}
	apiserver.Edit(c.store(), budgets, budget, func(b *policyv1.PodDisruptionBudget) { b.Status = status })
}
