//go:build linux

// Package slot keeps one hotfix of the node program beside the baked one, and
// says which of the two to run.
//
// A program counts when it was verified and its manifest names its digest. The
// program is put in place first and its manifest after it: in between, and
// whenever anything else is in doubt, the digests differ and the baked program is
// the answer.
//
// This package never touches the baked program, never answers without a path, and
// never stages what it has not seen running.
package slot
