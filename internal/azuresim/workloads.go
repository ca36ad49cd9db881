package azuresim

import (
	"maps"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// ClusterLabel is on every node of a managed cluster; its value names the cluster by its node resource group.
	ClusterLabel = "kubernetes.azure.com/cluster"
	// PoolLabel is on every node; its value is the pool's name.
	PoolLabel = "kubernetes.azure.com/agentpool"

	modeLabel = "kubernetes.azure.com/mode"
	appLabel  = "app"
)

// clusterLabelValue is the node resource group, cut as AKS cuts it to what a label may hold.
func (m *model) clusterLabelValue() string {
	const longest = 63
	group := m.nodeGroup()
	return strings.TrimRight(group[:min(len(group), longest)], "-_.")
}

// newNode is the Node that a machine registers as.
func (m *model) newNode(p *pool, machine *machine) *corev1.Node {
	labels := p.nodeLabels()
	maps.Copy(labels, map[string]string{
		"agentpool": p.name, PoolLabel: p.name, modeLabel: strings.ToLower(p.mode()), ClusterLabel: m.clusterLabelValue(),
		corev1.LabelHostname: machine.node, corev1.LabelOSStable: strings.ToLower(p.text("osType")),
		corev1.LabelInstanceTypeStable: p.text("vmSize"), "kubernetes.azure.com/role": "agent",
	})
	if zone := p.zone(machine.index); zone != "" {
		labels[corev1.LabelTopologyZone] = zone
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU:    *apiresource.NewQuantity(4, apiresource.DecimalSI),
		corev1.ResourceMemory: apiresource.MustParse("16Gi"),
		corev1.ResourcePods:   *apiresource.NewQuantity(int64(intIn(p.definition, "maxPods")), apiresource.DecimalSI),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: machine.node, Labels: labels, Annotations: map[string]string{}},
		Spec:       corev1.NodeSpec{ProviderID: "azure://" + m.machineID(p.scaleSet.name, machine.index)},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: []corev1.NodeCondition{readiness(false, metav1.NewTime(m.time.now))},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: "v" + m.scenario.KubernetesVersion, OperatingSystem: strings.ToLower(p.text("osType")),
			},
		},
	}
	for _, text := range p.taints() {
		if taint, ok := parseTaint(text); ok {
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
	}
	return node
}

func readiness(ready bool, since metav1.Time) corev1.NodeCondition {
	condition := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", LastTransitionTime: since,
	}
	if ready {
		condition.Status, condition.Reason = corev1.ConditionTrue, "KubeletReady"
	}
	return condition
}

// newWorkloads is what AKS runs on every node, and the scenario's apps.
func (m *model) newWorkloads() Workloads {
	var made Workloads
	for _, name := range []string{"kube-proxy", "azure-cns"} {
		made.DaemonSets = append(made.DaemonSets, m.newDaemonSet(name))
	}
	for _, app := range m.scenario.Apps {
		made.ReplicaSets = append(made.ReplicaSets, m.newReplicaSet(app))
		if app.MinAvailable > 0 {
			least := intstr.FromInt32(app.MinAvailable)
			made.Budgets = append(made.Budgets, newBudget(app, policyv1.PodDisruptionBudgetSpec{MinAvailable: &least}))
		}
	}
	return made
}

func (m *model) newDaemonSet(name string) *appsv1.DaemonSet {
	labels := map[string]string{appLabel: name}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kube-system", Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers:   containersOf(name),
					NodeSelector: map[string]string{ClusterLabel: m.clusterLabelValue()},
					Tolerations:  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				},
			},
		},
	}
}

func (m *model) newReplicaSet(app App) *appsv1.ReplicaSet {
	labels := map[string]string{appLabel: app.Name}
	replicas, grace := app.Replicas, int64(app.Grace.span()/time.Second)
	spec := corev1.PodSpec{
		Containers: containersOf(app.Name), TerminationGracePeriodSeconds: &grace,
		NodeSelector: map[string]string{ClusterLabel: m.clusterLabelValue()},
	}
	if app.SystemNodes {
		spec.NodeSelector[modeLabel] = strings.ToLower(modeSystem)
		spec.Tolerations = []corev1.Toleration{{Key: "CriticalAddonsOnly", Operator: corev1.TolerationOpExists}}
	}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: app.Name + "-" + m.names.suffix("replicaset", app.Name), Namespace: app.Namespace, Labels: labels,
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}
}

func containersOf(name string) []corev1.Container {
	return []corev1.Container{{Name: name, Image: "registry.example/" + name + ":1"}}
}

func newBudget(app App, spec policyv1.PodDisruptionBudgetSpec) *policyv1.PodDisruptionBudget {
	spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: app.Name}}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: app.Namespace}, Spec: spec,
	}
}

// block forbids every disruption of an app, in place of the budget that it had.
func (m *model) block(name string) {
	none := intstr.FromInt32(0)
	m.eachApp(name, func(app App) {
		m.kube.SetBudget(newBudget(app, policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none}))
	})
}

// unblock lets go of an app, which then has no budget.
func (m *model) unblock(name string) {
	m.eachApp(name, func(app App) { m.kube.RemoveBudget(app.Namespace, app.Name) })
}

func (m *model) eachApp(name string, do func(App)) {
	for _, app := range m.scenario.Apps {
		if app.Name == name {
			do(app)
		}
	}
}

// parseTaint reads key=value:Effect, as AKS writes taints.
func parseTaint(text string) (corev1.Taint, bool) {
	pair, effect, found := strings.Cut(text, ":")
	if !found || pair == "" || effect == "" {
		return corev1.Taint{}, false
	}
	key, value, _ := strings.Cut(pair, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}, true
}
