//go:build unix

package grouping_test

import (
	"syscall"
	"testing"
	"time"
)

// cpu is the time that this process has been given so far: a busy machine doesn't count.
func cpu(tb testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
