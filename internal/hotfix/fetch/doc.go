// Package fetch brings exactly one version of the node program, or of its scripts,
// from where it is published: the node's package repository, or the address that
// the pointer gives.
//
// A package is downloaded and unpacked in a folder of the caller's. This package
// must never install anything, never change what the node's package manager has
// recorded, never take a version that merely begins like the one that was wanted,
// and never leave a process behind. What it brings is not yet trusted: the caller
// verifies it before it counts.
package fetch
