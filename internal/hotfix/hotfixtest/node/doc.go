//go:build linux

// Command node is the node program of tests. How it behaves is written behind
// its own end, so that one build serves for all of them.
package main
