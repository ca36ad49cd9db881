// Package replay makes the decisions of a run again, from its record, with the runbook as it is now: the same, or the
// first input that makes the difference.
//
// It reads records and runbooks and nothing else: it never asks the world, the clock or the environment, never takes a
// default for what the record lacks, and never goes on as if it knew what the world would have done after a decision
// that comes out different.
package replay
