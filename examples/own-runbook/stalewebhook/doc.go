// Package stalewebhook is the runbook remove-stale-webhook: it deletes the configuration
// of a validating webhook whose service is gone. Such a webhook fails closed: the API
// server refuses every write that it is asked about, often those of its own clean-up.
//
// It must never delete a configuration of which one webhook can still be answered, or
// one that it has not written down before.
package stalewebhook
