// Package live asks a build cluster what rules about a Prow instance need to know: what
// plank may do there, and whether the objects that jobs name exist.
//
// It never changes anything, never reads the content of a Secret, and never takes what it
// may not see for missing.
package live
