package azuresim

import (
	corev1 "k8s.io/api/core/v1"

	"salve/internal/azuresim/apiserver"
)

// This file is what others do in a World, for hooks and tests: nothing of it is a recorded call.

// CordonPool makes a pool's nodes unschedulable.
func (w *World) CordonPool(pool string) {
	w.editNodes(pool, func(node *corev1.Node) { node.Spec.Unschedulable = true })
}

// BreakPool lets the kubelets of a pool's nodes fall silent: none is Ready any more.
func (w *World) BreakPool(pool string) {
	w.editNodes(pool, func(node *corev1.Node) {
		node.Status.Conditions = []corev1.NodeCondition{readiness(false, w.kube.now())}
	})
}

// UnlabelPool removes a label from a pool's nodes.
func (w *World) UnlabelPool(pool, label string) {
	w.editNodes(pool, func(node *corev1.Node) { delete(node.Labels, label) })
}

// WritePool is a concurrent writer's update of a pool's tags, which takes a time and changes its ETag, now or as soon
// as nothing else runs.
func (w *World) WritePool(pool string, tags map[string]string, takes Duration) {
	w.lock()
	defer w.unlock()
	w.model.writeConcurrently(&ConcurrentWriter{Pool: pool, Tags: tags, For: takes})
}

// ReconcileCluster is a concurrent writer's update of the cluster.
func (w *World) ReconcileCluster(takes Duration) {
	w.lock()
	defer w.unlock()
	w.model.writeConcurrently(&ConcurrentWriter{For: takes})
}

func (w *World) editNodes(pool string, change func(*corev1.Node)) {
	w.lock()
	defer w.unlock()
	p := w.model.pool(pool)
	if p == nil || w.kube == nil {
		return
	}
	for _, machine := range p.scaleSet.machines {
		if node := w.kube.node(machine.node); node != nil {
			apiserver.Edit(w.kube.store(), nodes, node, change)
		}
	}
	w.kube.reconcile()
}
