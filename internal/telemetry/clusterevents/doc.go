// Package clusterevents tells runs as Kubernetes Events. They are about the lease of the run's target, which is the
// object that stands for it in the journal's namespace: kubectl -n salve-system get events. It may create Events and do
// nothing else.
package clusterevents
