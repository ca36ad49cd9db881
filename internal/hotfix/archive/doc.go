// Package archive takes one file out of a Debian or RPM package, and opens what
// those formats and their repositories compress with.
//
// Packages come from outside. This package must never write anywhere but to the
// writer it was given, never follow what a package says about paths, and never
// give more bytes than its caller allows.
package archive
