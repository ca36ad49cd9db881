// Package protector reads from the cluster of a Prow instance whether its branchprotector is at work, which one is
// deployed, and which configuration was applied last; and it keeps the latter there.
//
// It must never say that nothing runs, or that nothing was applied, of what it could not list.
package protector
