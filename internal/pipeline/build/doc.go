// Package build makes what a pipeline's steps execute, for the machine that will
// run them, and sees to it that the machine can.
//
// It runs the pipeline's own build step in the pipeline's folder. A build that
// fails, or whose process is killed, leaves the programs that were there before:
// they are kept aside first and brought back. It skips a build whose inputs and
// outputs are as they were, and never one of which that isn't known.
package build
