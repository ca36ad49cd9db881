//go:build linux

// Package protect tells whether writing to a path would reach a file that a node's
// boot depends on, by whatever name: through symbolic links, hard links, mounts of the
// same folder elsewhere, and the layers of an overlay.
//
// It only looks. It must never call a path free that it could not look at, and never
// compare names alone: two paths are the same place where the same folder is on both.
package protect
