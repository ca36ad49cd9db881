//go:build linux

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// runVersion prints which program this is.
func (n *node) runVersion() int {
	version := "unreleased"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	fmt.Fprintf(n.stdout, "salve-node %s (%s)\n", version, runtime.Version())
	return exitDone
}
