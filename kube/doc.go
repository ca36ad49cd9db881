// Package kube is the Kubernetes side of a target: nodes, cordon, drain, waits.
//
// Every write carries the UID or the resourceVersion of what was read and takes
// a permit. Cordons are marked with the run that made them, so that only they
// are taken back. Which pods a drain takes is decided by kubectl's own filters,
// and when by the Eviction API; this package overrides neither.
package kube
