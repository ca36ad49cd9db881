// Package rollout runs pipelines: the graph of their steps, as parallel as it
// allows, on the same journal as runbooks.
//
// One goroutine owns the journal. An attempt at a step is announced there before
// it begins, and its outcome is there before anything that depends on it begins.
// What a step hands on is in the journal, unless it is a secret: those are kept in
// memory only. A step that was cut off in the middle is never taken for done or
// for not begun: it is asked about, unless making it again does no harm.
package rollout
