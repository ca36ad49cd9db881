//go:build linux

// Package process starts a program in a process group of its own, and in a control
// group of its own where there is one, and can end it with all who descend from it:
// whoever has left its group, its session or its parents included.
//
// It never signals a process that it has not seen to be a descendant, and never
// waits for one without bound.
package process
