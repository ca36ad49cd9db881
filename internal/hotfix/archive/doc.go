// Package archive takes one file out of a Debian or RPM package, and opens what
// those formats and their repositories compress with.
//
// Packages come from outside. This package must never write anywhere but to the
// writer it was given, never follow what a package says about paths, owners, modes
// or kinds of files, never give more bytes than its caller allows, and never work on
// when its caller's context has ended: a few bytes can unpack to a day's work.
package archive
