// Package rescuepods is the runbook rescue-stranded-pods: it removes pods that were
// made in a namespace where they can't start, because what they need is in another
// one, and sees to it that the jobs they belong to get pods where they can.
//
// It never touches the namespaces where such pods belong, a pod in which anything
// has started, or a finalizer (but, of a Prow's stray whose job is gone or reported,
// crier's), and never acts while the source is still at work.
package rescuepods
