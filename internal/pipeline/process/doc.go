// Package process runs commands as process groups of their own, so that what a
// command started can be ended with it, also after the program that ran it was
// killed.
//
// It never ends a process that it does not know by its group or its mark.
package process
