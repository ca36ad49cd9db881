// Package shell reads scripts of bash without running them: which programs they
// execute, and which words are in them.
//
// It says nothing of what a script makes up while it runs.
package shell
