// Package engine runs any runbook: lease, guards, plan, steps, resume, checks.
//
// It is the only minter of permits, and it keeps the law of the house: no
// evidence, no act; write first, act second; observe after a crash; one actor
// for each target; leave it as found; success is what was checked.
//
// It knows no cloud, never looks at an error's text, and never prints.
package engine
