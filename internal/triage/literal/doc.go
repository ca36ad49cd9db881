// Package literal finds, in one pass over a stream, every occurrence of each of some thousands of literals, overlapping
// ones included, with the line that it is in. Memory does not grow with the stream.
//
// It knows bytes only: no encodings, no expressions. What a hit means is its caller's to say.
package literal
