// Package stranded is pods that are in namespaces where they don't belong: which of
// them can't start because of that, what became of them, and an alarm as soon as
// there are some.
//
// What a pod needs is only asked for by name: the content of a Secret never leaves
// the API server. A pod is deleted as it was read, by its UID and version, and no
// finalizer is removed but by Release, which takes one that is named from pods that
// nothing else holds.
package stranded
