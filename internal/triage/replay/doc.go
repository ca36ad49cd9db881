// Package replay makes the verdicts of a triage again from its record, with the thresholds of this program or others:
// the same, or the threshold and the first rule that make the difference.
//
// It reads records and nothing else: it never reads results, asks a history or looks at the clock, and never takes a
// default for what a record lacks.
package replay
