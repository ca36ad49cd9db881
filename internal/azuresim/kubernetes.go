package azuresim

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Kubernetes is the managed cluster as Azure acts on it: machines register as nodes and go, and what the scenario runs
// is started once.
//
// A World calls it in the order of its time and under its own lock: no call may wait. An implementation that reaches
// its cluster later has to keep the order.
type Kubernetes interface {
	// AddNode registers a machine as a node that is not Ready yet.
	AddNode(node *corev1.Node)
	// SetReady says that the machine of a node is up.
	SetReady(node string)
	// Cordon makes a node unschedulable.
	Cordon(node string)
	// Empty ends every pod of nodes but those of DaemonSets, without asking budgets.
	Empty(nodes []string)
	// Evict asks for the eviction of every pod of nodes but those of DaemonSets, as budgets allow.
	Evict(nodes []string)
	// Left tells what the last Evict has left on nodes; known is false while that is not known.
	Left(nodes []string) (pods []PodLeft, known bool)
	// RemoveNode takes a node away, and with it what ran there.
	RemoveNode(node string)
	// Start begins what the scenario runs.
	Start(workloads Workloads)
	// SetBudget makes a budget, in place of the one of its name.
	SetBudget(budget *policyv1.PodDisruptionBudget)
	// RemoveBudget takes a budget away.
	RemoveBudget(namespace, name string)
}

// Workloads are what a scenario runs in its cluster. Their pods fit nodes of its pools only.
type Workloads struct {
	DaemonSets  []*appsv1.DaemonSet
	ReplicaSets []*appsv1.ReplicaSet
	Budgets     []*policyv1.PodDisruptionBudget
}

var _ Kubernetes = (*controlPlane)(nil)
