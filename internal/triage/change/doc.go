// Package change is the change under test, and which scenarios can run what it changed: read from a diff or from git,
// and set against a map of the source that people keep.
//
// It must never say that a scenario can't reach a change unless the map has a rule that says so: without a map, without
// a rule, with a file that no component owns, or with an attribute that nobody knows, the answer is Unknown. It must
// never take part of a diff for the whole: one that ends early, or can't be read, is an error.
//
// It changes nothing in a repository, and starts no program of the repository's configuration.
package change
