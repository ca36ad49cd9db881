// Package kube is a Kubernetes cluster: how it is reached, how its objects are listed
// and deleted, and its nodes, which are cordoned and drained. What one runbook alone
// asks of a cluster lives with that runbook.
//
// It must never change anything without a permit, never write without the UID or the
// resourceVersion of what was read, and never take back a cordon of somebody else:
// cordons are marked with the run that made them.
//
// It must never take an answer for more than it says. An object with another name or
// UID than was asked for is an error or another object. Not found is the object's own
// 404, or that of a path which discovery does not list either. An empty list of nodes
// is neither all nodes nor none: VerifyNodes compares it with a second source.
//
// Which pods a drain evicts is decided by an ordered list of filters with the
// decisions of kubectl drain; when, by the Eviction API. This package overrides
// neither: no pod is deleted directly.
//
// A drain is one loop that owns all state. Workers request evictions, one watch for
// each node sees pods deleted, and a scheduler says which pod is next: each
// PodDisruptionBudget has a queue of its own, so that one which refuses delays its own
// pods only. What is bounded is the requests in flight; their rate is the API
// server's to bound.
package kube
