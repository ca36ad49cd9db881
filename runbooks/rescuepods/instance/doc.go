// Package instance is the Prow instance whose pods are stranded: what tells its strays from all other pods, what shows
// that its fix is in force, and where its pods belong by three sources that must agree.
//
// What is read and what is decided are apart: decisions are pure functions of a State, of Sources or of a Deployment,
// and their reasons name the rule (G1 to G10, A5) of docs/rescue-stranded-pods.md.
//
// It must never change anything, never take a source that it can't read for one that agrees, and never call a pod a
// stray by its label alone: people put that on pods by hand.
package instance
