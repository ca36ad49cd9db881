// Package analysis is one triage from its inputs to its document: it reads the results, groups the failures, asks for
// causes, for the alternative, for signatures and history, and has the verdicts made.
//
// It decides nothing itself, changes nothing outside, and has no input but those it is given.
package analysis
