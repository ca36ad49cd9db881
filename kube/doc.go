// Package kube is a Kubernetes cluster: how it is reached, how its objects are
// listed and deleted, and its nodes, which are cordoned and drained. What runbooks
// ask beyond that has rooms of its own below.
//
// Every write carries the UID or the resourceVersion of what was read and takes
// a permit. Cordons are marked with the run that made them, so that only they
// are taken back. Which pods a drain takes is decided by kubectl's own filters,
// and when by the Eviction API; this package overrides neither.
//
// A drain is one loop that owns all state. Workers ask for evictions, followers
// see pods go by a watch of each node, and an agenda says who is asked for next:
// each PodDisruptionBudget has a queue of its own, so that one which refuses
// holds up its own pods only. What is bounded is the requests in flight; their
// rate is the API server's to bound.
package kube
