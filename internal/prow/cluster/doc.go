// Package cluster is what a Prow instance's clusters say: its ProwJobs, and the pods that carry its label, as the few
// fields that rules ask about. They are read once, page by page, or mirrored: listed, then watched, with the watch
// gone on with where it ended.
//
// It must never drop an object that it can't read: that is reported as malformed, with its place and reason. Where it
// may not look into all namespaces, it looks into those that were named, and its answers say so: a namespace that was
// not seen is never an empty one.
//
// It must never change anything, and never judge where a pod belongs. Texts of objects are data that others wrote:
// they are bounded here, and escaped by who shows them.
package cluster
