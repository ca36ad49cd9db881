// Package repairprotection is the runbook repair-branch-protection: it makes the protection of branches on GitHub what
// the configuration of a Prow instance says, after somebody or an old program changed it.
//
// It changes only fields that the configuration speaks about, and never writes an object with fields that it does not
// know. It never makes a context required that nothing reports, never takes a branch's protection away without a word,
// never writes beside a branchprotector that is at work, and never applies an older configuration than was applied
// before, unless an operator says so.
package repairprotection
