// Package results reads what test runs left behind, one case at a time: go test -json, JUnit XML and plain logs,
// plain or compressed, in files, folders or on standard input.
//
// Passing cases are given as well as failing ones: without them no rate can be worked out. Memory doesn't grow with
// the input: texts keep a head and a tail and say how much lies between. What is read is untrusted: nothing is
// expanded, control characters and bytes that are no text become U+FFFD with a note, and a file that can't be read
// to its end gives the cases before the break and a [Problem] that says file, line and reason.
package results
