//go:build linux

// Package launch runs the programs of a boot: a child that prepares it, for a budget
// at most, and a program in this one's stead, whose place it takes, or whose parent it
// stays, passing signals to it and giving back how it ended.
//
// It never judges what an ending means, never waits without bound for a process, and
// never tells the shell that wraps it that all is done before that is so.
package launch
