// Package disk puts files in place whole or not at all, in folders that are held
// open, so that nobody can slip another folder under a path meanwhile.
//
// It never writes to a file that somebody may be reading, never follows a
// symbolic link that it was not given as the way to its first folder, and never
// calls a file written before the disk has said so.
package disk
