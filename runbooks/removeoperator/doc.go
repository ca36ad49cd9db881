// Package removeoperator is the runbook remove-operator: it removes what a retired
// operator left in a cluster, such as custom resources that wait for finalizers
// which no controller serves any more.
//
// It never acts while the operator may be alive, never deletes what is not in the
// bundle that was read back, and never removes a finalizer of somebody else, or any
// from an object that is not being deleted.
package removeoperator
