// Package recreatepool is the runbook aks-recreate-pool: it replaces an AKS agent
// pool whose scale set can't be written any more by a new pool of the same
// definition, while a stand-in pool carries the load.
//
// It never leaves the cluster without a system pool that serves, never deletes a
// pool whose definition is not in the journal, and never fights an operation
// that may be healthy.
package recreatepool
