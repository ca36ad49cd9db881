package azuresim

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var (
	nodes       = corev1.SchemeGroupVersion.WithResource("nodes")
	pods        = corev1.SchemeGroupVersion.WithResource("pods")
	daemonSets  = appsv1.SchemeGroupVersion.WithResource("daemonsets")
	replicaSets = appsv1.SchemeGroupVersion.WithResource("replicasets")
	budgets     = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
)

const (
	poolLabel = "kubernetes.azure.com/agentpool"
	modeLabel = "kubernetes.azure.com/mode"
	appLabel  = "app"
)

// controlPlane is the Kubernetes side: the objects, and as much of the controllers as a drain and a new node need.
type controlPlane struct {
	*objects
	time    *timetable
	names   *seeded
	version string
}

func newControlPlane(names *seeded, clock *timetable, version string) *controlPlane {
	now := func() metav1.Time { return metav1.NewTime(clock.now) }
	return &controlPlane{objects: newObjects(names, now), time: clock, names: names, version: version}
}

// addNode registers a machine as a node that is not Ready yet.
func (c *controlPlane) addNode(p *pool, machine *machine, providerID string) {
	if _, err := c.find(nodes, "", machine.node); err == nil {
		return
	}
	zone := p.zone(machine.index)
	labels := p.nodeLabels()
	for key, value := range map[string]string{
		"agentpool": p.name, poolLabel: p.name, modeLabel: strings.ToLower(p.mode()),
		corev1.LabelHostname: machine.node, corev1.LabelOSStable: strings.ToLower(p.text("osType")),
		corev1.LabelInstanceTypeStable: p.text("vmSize"), "kubernetes.azure.com/role": "agent",
	} {
		labels[key] = value
	}
	if zone != "" {
		labels[corev1.LabelTopologyZone] = zone
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: machine.node, Labels: labels, Annotations: map[string]string{}},
		Spec:       corev1.NodeSpec{ProviderID: "azure://" + providerID},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{c.readiness(false)},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v" + c.version, OperatingSystem: strings.ToLower(p.text("osType"))},
		},
	}
	for _, text := range p.taints() {
		if taint, ok := parseTaint(text); ok {
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
	}
	c.mustCreate(nodes, node, "")
	c.settle()
}

func (c *controlPlane) readiness(ready bool) corev1.NodeCondition {
	condition := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", LastTransitionTime: c.now()}
	if ready {
		condition.Status, condition.Reason = corev1.ConditionTrue, "KubeletReady"
	}
	return condition
}

func (c *controlPlane) node(name string) *corev1.Node {
	object, err := c.find(nodes, "", name)
	if err != nil {
		return nil
	}
	node, _ := object.(*corev1.Node)
	return node
}

func (c *controlPlane) setReady(name string) {
	if node := c.node(name); node != nil {
		edit(c.objects, nodes, node, func(n *corev1.Node) { n.Status.Conditions = []corev1.NodeCondition{c.readiness(true)} })
		c.settle()
	}
}

func (c *controlPlane) cordon(name string) {
	if node := c.node(name); node != nil && !node.Spec.Unschedulable {
		edit(c.objects, nodes, node, func(n *corev1.Node) { n.Spec.Unschedulable = true })
		c.settle()
	}
}

// evictFrom ends every pod of a node but those of DaemonSets, without asking budgets.
func (c *controlPlane) evictFrom(node string) {
	each(c.objects, pods, func(pod *corev1.Pod) {
		if pod.Spec.NodeName == node && !ownedBy(pod, "DaemonSet") {
			c.terminate(pod, nil)
		}
	})
	c.settle()
}

// removeNode takes a node away, and with it what ran there.
func (c *controlPlane) removeNode(name string) {
	if c.node(name) == nil {
		return
	}
	_ = c.Delete(nodes, "", name) // it exists
	c.settle()
}

// addApps makes the workloads and lets their pods run where there is room.
func (c *controlPlane) addApps(apps []App) {
	for _, name := range []string{"kube-proxy", "azure-cns"} {
		c.addDaemons(name)
	}
	for _, app := range apps {
		c.addApp(app)
	}
	c.settle()
	each(c.objects, pods, c.place)
	c.settle()
}

func (c *controlPlane) addDaemons(name string) {
	labels := map[string]string{appLabel: name}
	c.mustCreate(daemonSets, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kube-system", Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers:  []corev1.Container{{Name: name, Image: "registry.example/" + name + ":1"}},
					Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				},
			},
		},
	}, "kube-system")
}

func (c *controlPlane) addApp(app App) {
	labels := map[string]string{appLabel: app.Name}
	replicas, grace := int32(app.Replicas), int64(app.Grace.span()/time.Second)
	spec := corev1.PodSpec{
		Containers:                    []corev1.Container{{Name: app.Name, Image: "registry.example/" + app.Name + ":1"}},
		TerminationGracePeriodSeconds: &grace,
	}
	if app.SystemNodes {
		spec.NodeSelector = map[string]string{modeLabel: strings.ToLower(modeSystem)}
		spec.Tolerations = []corev1.Toleration{{Key: "CriticalAddonsOnly", Operator: corev1.TolerationOpExists}}
	}
	c.mustCreate(replicaSets, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: app.Name + "-" + c.names.suffix("replicaset", app.Name), Namespace: app.Namespace, Labels: labels},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}, app.Namespace)
	if app.MinAvailable > 0 {
		least := intstr.FromInt32(int32(app.MinAvailable))
		c.addBudget(app.Namespace, app.Name, policyv1.PodDisruptionBudgetSpec{MinAvailable: &least}, labels)
	}
}

func (c *controlPlane) addBudget(namespace, name string, spec policyv1.PodDisruptionBudgetSpec, labels map[string]string) {
	spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	c.mustCreate(budgets, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, Spec: spec}, namespace)
}

// block forbids every disruption of an app, in place of the budget that it had.
func (c *controlPlane) block(app string) {
	none := intstr.FromInt32(0)
	each(c.objects, replicaSets, func(set *appsv1.ReplicaSet) {
		if set.Labels[appLabel] == app {
			_ = c.Delete(budgets, set.Namespace, app) // it may have none
			c.addBudget(set.Namespace, app, policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none}, set.Labels)
		}
	})
	c.settle()
}

// unblock lets go of an app, which then has no budget.
func (c *controlPlane) unblock(app string) {
	each(c.objects, budgets, func(budget *policyv1.PodDisruptionBudget) {
		if budget.Name == app {
			_ = c.Delete(budgets, budget.Namespace, app) // it exists
		}
	})
	c.settle()
}

// mustCreate stores an object of the model's own making, whose name is new.
func (c *controlPlane) mustCreate(resource resource, object runtime.Object, namespace string) {
	if err := c.Create(resource, object, namespace); err != nil {
		panic(fmt.Sprintf("azuresim: creating its own %s: %v", resource.Resource, err))
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
