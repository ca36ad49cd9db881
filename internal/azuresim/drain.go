package azuresim

import (
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/azuresim/apiserver"
)

// drainPasses is how often in its time a drain asks for the evictions that were refused.
const drainPasses = 120

// PodLeft is a pod that a drain has not got rid of.
type PodLeft struct {
	Namespace, Name, Node string
	// Budget is the PodDisruptionBudget that forbids its eviction; empty while the pod is ending.
	Budget string
}

// drainPool evicts what runs on a pool's nodes as budgets allow, again and again, and goes on with then when nothing is
// left. When its time is over it ends the operation.
// https://learn.microsoft.com/azure/aks/delete-node-pool, https://github.com/Azure/AKS/issues/2090
func (m *model) drainPool(op *operation, p *pool, then func()) {
	takes, nodes := m.scenario.Durations.Drain.span(), m.nodesOf(p)
	deadline := m.time.now.Add(takes)
	var look func()
	look = func() {
		left, known := m.kube.Left(nodes)
		switch {
		case known && len(left) == 0:
			then()
			return
		case known && !m.time.now.Before(deadline):
			m.end(op, stateFailed, drainFailed(left, takes.String()))
			return
		}
		m.step(op, takes/drainPasses, func() {
			if known {
				m.kube.Evict(nodes)
			}
			look()
		})
	}
	m.kube.Evict(nodes)
	look()
}

// drainFailed words the failure as AKS does.
// https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-code-poddrainfailure
func drainFailed(left []PodLeft, within string) *failure {
	node, names := "", []string{}
	for _, pod := range left {
		if pod.Budget != "" {
			return &failure{Code: "PodDrainFailure", Message: fmt.Sprintf("Drain node %s failed when evicting pod %s failed "+
				"with "+
				"Too Many Requests error. This is often caused by a restrictive Pod Disruption Budget (PDB) policy. See "+
				"https://aka.ms/aks/debugdrainfailures. Original error: Cannot evict pod as it would violate the pod's disruption "+
				"budget.. PDB debug info: %s/%[2]s blocked by pdb %[4]s with 0 unready pods.",
				pod.Node, pod.Name, pod.Namespace, pod.Budget)}
		}
		node, names = pod.Node, append(names, pod.Name)
	}
	return &failure{Code: "PodDrainFailure", Message: fmt.Sprintf(
		"Node '%s' failed to be drained with error: 'Drain did not complete pods [%s] within %s'", node,
		strings.Join(names, " "), within)}
}

// podsOn calls do for each pod of nodes that a drain is about: DaemonSets see to theirs themselves.
func (c *controlPlane) podsOn(nodes []string, do func(*corev1.Pod)) {
	chosen := map[string]bool{}
	for _, node := range nodes {
		chosen[node] = true
	}
	apiserver.Each(c.store(), pods, func(pod *corev1.Pod) {
		if chosen[pod.Spec.NodeName] && !ownedBy(pod, "DaemonSet") {
			do(pod)
		}
	})
}

// Empty implements Kubernetes.
func (c *controlPlane) Empty(nodes []string) {
	c.podsOn(nodes, func(pod *corev1.Pod) { c.terminate(pod, nil) })
	c.settle()
}

// Evict implements Kubernetes.
func (c *controlPlane) Evict(nodes []string) {
	c.podsOn(nodes, func(pod *corev1.Pod) {
		if pod.DeletionTimestamp == nil && (pod.Status.Phase != corev1.PodRunning || c.askBudgets(pod) == nil) {
			c.terminate(pod, nil)
			c.reconcile() // budgets are counted before the next
		}
	})
}

// Left implements Kubernetes.
func (c *controlPlane) Left(nodes []string) (left []PodLeft, known bool) {
	c.podsOn(nodes, func(pod *corev1.Pod) {
		one := PodLeft{Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName}
		if pod.DeletionTimestamp == nil {
			one.Budget = c.refusing(pod)
		}
		left = append(left, one)
	})
	return left, true
}

// refusing names the budgets that forbid a pod's eviction now; empty when none does.
func (c *controlPlane) refusing(pod *corev1.Pod) string {
	if c.askBudgets(pod) == nil {
		return ""
	}
	var names []string
	for _, budget := range c.budgetsOf(pod) {
		names = append(names, budget.Name)
	}
	return strings.Join(names, " and ")
}

// ignoresBudgets: the request asks for a deletion that no PodDisruptionBudget stops.
func ignoresBudgets(asked *request) (bool, *refusal) {
	switch text := asked.ask("ignore-pod-disruption-budget"); strings.ToLower(text) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, refuse(http.StatusBadRequest, "InvalidParameter",
			"The value of parameter ignore-pod-disruption-budget is invalid: '%s' is neither true nor false.", text)
	}
}
