// Package recreatepool is the runbook aks-recreate-pool: it replaces an AKS agent pool whose scale
// set rejects every write by a new pool of the same definition, while a stand-in pool carries the
// load.
//
// It never leaves the cluster without a system pool that serves, never deletes a pool whose
// definition is not in the journal or whose stand-in does not serve, never removes a pool that is
// not its own, never undoes what no intent of its run explains, and never fights an operation that
// may be healthy.
package recreatepool
