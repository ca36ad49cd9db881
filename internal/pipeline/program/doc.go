// Package program examines files that a pipeline is about to execute: which
// platforms they are for, what they need on the machine, and whether a machine
// can execute them.
//
// It reads files and never executes one.
package program
