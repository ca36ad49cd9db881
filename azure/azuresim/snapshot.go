package azuresim

import (
	"encoding/json"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// State is a copy of the world at one moment.
type State struct {
	At      time.Time
	Cluster ClusterState
	Pools   []PoolState // in the order of their creation
	Nodes   []NodeState // by name
	Pods    []PodState  // by namespace and name
}

// ClusterState is the managed cluster; the zero value when there is none.
type ClusterState struct {
	Exists            bool
	ProvisioningState string
	ETag              string
	Tags              map[string]string
}

// PoolState is an agent pool.
type PoolState struct {
	Name              string
	Mode              string
	ProvisioningState string
	// Count is what the definition asks for.
	Count     int
	ETag      string
	ScaleSet  string
	Corrupted bool
	Tags      map[string]string
	// Definition is the pool's properties as a client sent them, with the service's defaults, without what it computes.
	Definition json.RawMessage
}

// NodeState is a Node.
type NodeState struct {
	Name          string
	Pool          string
	Ready         bool
	Unschedulable bool
	Annotations   map[string]string
}

// PodState is a Pod; Node is empty while it waits for one.
type PodState struct {
	Namespace   string
	Name        string
	Node        string
	Terminating bool
}

// Snapshot copies the world's state as it is now.
func (w *World) Snapshot() State {
	w.lock()
	defer w.unlock()
	state := State{At: w.time.now}
	if c := w.model.cluster; c != nil {
		state.Cluster = ClusterState{Exists: true, ProvisioningState: c.state, ETag: c.etag, Tags: maps.Clone(c.tags)}
	}
	for _, p := range w.model.pools {
		definition, err := json.Marshal(p.definition)
		if err != nil {
			panic("azuresim: encoding a definition: " + err.Error()) // it was decoded from JSON
		}
		state.Pools = append(state.Pools, PoolState{
			Name: p.name, Mode: p.mode(), ProvisioningState: p.state, Count: p.count(), ETag: p.etag, ScaleSet: p.scaleSet.name,
			Corrupted: p.scaleSet.corrupted, Tags: p.tags(), Definition: definition,
		})
	}
	each(w.kube.objects, nodes, func(node *corev1.Node) {
		state.Nodes = append(state.Nodes, NodeState{
			Name: node.Name, Pool: node.Labels[poolLabel], Ready: isReady(node), Unschedulable: node.Spec.Unschedulable,
			Annotations: maps.Clone(node.Annotations),
		})
	})
	each(w.kube.objects, pods, func(pod *corev1.Pod) {
		state.Pods = append(state.Pods, PodState{
			Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName, Terminating: pod.DeletionTimestamp != nil,
		})
	})
	return state
}
