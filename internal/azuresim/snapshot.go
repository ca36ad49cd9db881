package azuresim

import (
	"encoding/json"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/azuresim/apiserver"
)

// State is a copy of the world at one moment.
type State struct {
	At      time.Time    `json:"at"`
	Cluster ClusterState `json:"cluster"`
	Pools   []PoolState  `json:"pools"` // in the order of their creation
	Nodes   []NodeState  `json:"nodes"` // by name
	Pods    []PodState   `json:"pods"`  // by namespace and name

	ResourceGroups []string `json:"resourceGroups"`
	// Resources are those that are kept as they were sent, in the order of their creation.
	Resources   []ResourceState   `json:"resources"`
	Deployments []DeploymentState `json:"deployments"` // in the order of their start
}

// ResourceState is a resource that the embedded Azure keeps without knowing what it does.
type ResourceState struct {
	ID string `json:"id"`
	// Body is what a GET shows.
	Body json.RawMessage `json:"body"`
}

// DeploymentState is the last deployment of a name, nested ones included.
type DeploymentState struct {
	ID                string `json:"id"`
	Name              string `json:"name"`
	ProvisioningState string `json:"provisioningState"`
}

// ClusterState is the managed cluster; the zero value when there is none.
type ClusterState struct {
	Exists            bool              `json:"exists"`
	ProvisioningState string            `json:"provisioningState"`
	ETag              string            `json:"eTag"`
	Tags              map[string]string `json:"tags"`
}

// PoolState is an agent pool.
type PoolState struct {
	Name              string `json:"name"`
	Mode              string `json:"mode"`
	ProvisioningState string `json:"provisioningState"`
	// Count is what the definition asks for.
	Count     int               `json:"count"`
	ETag      string            `json:"eTag"`
	ScaleSet  string            `json:"scaleSet"`
	Corrupted bool              `json:"corrupted"`
	Tags      map[string]string `json:"tags"`
	// Definition is the pool's properties as a client sent them, with the service's defaults, without what it computes.
	Definition json.RawMessage `json:"definition"`
}

// NodeState is a Node.
type NodeState struct {
	Name          string            `json:"name"`
	Pool          string            `json:"pool"`
	Ready         bool              `json:"ready"`
	Unschedulable bool              `json:"unschedulable"`
	Annotations   map[string]string `json:"annotations"`
}

// PodState is a Pod; Node is empty while it waits for one.
type PodState struct {
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Node        string `json:"node"`
	Terminating bool   `json:"terminating"`
}

// NodeStateOf is what a State says of a node.
func NodeStateOf(node *corev1.Node) NodeState {
	return NodeState{
		Name: node.Name, Pool: node.Labels[PoolLabel], Ready: isReady(node), Unschedulable: node.Spec.Unschedulable,
		Annotations: maps.Clone(node.Annotations),
	}
}

// PodStateOf is what a State says of a pod.
func PodStateOf(pod *corev1.Pod) PodState {
	return PodState{
		Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName, Terminating: pod.DeletionTimestamp != nil,
	}
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
	w.model.showDeployed(&state)
	if w.kube != nil {
		w.kube.show(&state)
	}
	return state
}

// showDeployed adds what deployments are and make.
func (m *model) showDeployed(state *State) {
	state.ResourceGroups = m.groupNames()
	for _, r := range m.resources {
		body, err := json.Marshal(r.body)
		if err != nil {
			panic("azuresim: encoding a resource: " + err.Error()) // it was decoded from JSON
		}
		state.Resources = append(state.Resources, ResourceState{ID: r.id, Body: body})
	}
	for _, d := range m.deployments {
		state.Deployments = append(state.Deployments, DeploymentState{ID: d.id, Name: d.name, ProvisioningState: d.state})
	}
}

// show adds the embedded cluster's nodes and pods to a state.
func (c *controlPlane) show(state *State) {
	apiserver.Each(c.store(), nodes, func(node *corev1.Node) {
		state.Nodes = append(state.Nodes, NodeStateOf(node))
	})
	apiserver.Each(c.store(), pods, func(pod *corev1.Pod) {
		state.Pods = append(state.Pods, PodStateOf(pod))
	})
}
