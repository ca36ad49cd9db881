// Package permit holds the proof that a change may be made now.
//
// It is internal so that no code outside this module can mint a permit, and the
// architecture test keeps every package but the engine from calling Mint.
// Worlds see the type as runbook.Permit and only ask it to authorize.
package permit
