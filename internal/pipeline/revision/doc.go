// Package revision orders the revisions of what a pipeline rolls out: whole
// numbers, times, or commits of a git repository.
//
// It never calls one revision older than another unless it knows, and it changes
// nothing in a repository.
package revision
