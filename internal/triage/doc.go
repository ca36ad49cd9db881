// Package triage is the vocabulary of triage: the document that one triage gives, what its verdicts mean, and the
// thresholds by which they come about. Those who work it out and those who show it have these words in common.
//
// It works nothing out by itself, and reads and writes nothing.
package triage
