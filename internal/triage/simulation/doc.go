// Package simulation writes what CI leaves behind of a run of end-to-end scenarios, with failures whose cause is known:
// results, logs, a catalogue, a map of components, a change, runs without the change and those of other changes. A seed
// always gives the same run.
//
// It is for the tests that measure verdicts. It must never know how verdicts are made, and nothing of it is linked into
// salve.
package simulation
