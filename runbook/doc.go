// Package runbook holds Salve's words as Go types: Runbook, Guard, Finding,
// Evidence, Step, Plan, Permit, Posture.
//
// A runbook is a value: a list of guards, steps and checks that the engine runs.
// This package never runs anything, never waits, and knows neither clouds nor
// journals.
package runbook
