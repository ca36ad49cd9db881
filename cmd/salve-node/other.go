//go:build !linux

// Command salve-node runs on Linux only. On any other system it says so and ends.
package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	fmt.Fprintf(os.Stderr, "salve-node: not supported on %s: it provisions Linux nodes at their boot. "+
		"hint: GOOS=linux go build ./cmd/salve-node\n", runtime.GOOS)
	os.Exit(2)
}
