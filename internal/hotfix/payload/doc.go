//go:build linux

// Package payload puts a hotfix's files in place of the image's, all of them or
// none: scripts, units, settings.
//
// A payload is checked as a whole before anything is written. Then the new files
// are written beside the old ones, the old ones are kept, a record of the swap is
// made, and only then are names changed. Whoever comes after a crash finishes the
// swap or takes it back, as the record says.
//
// This package must never write outside of the allowed folders, never through a
// symbolic link, and never leave a mixture of old and new behind.
package payload
