//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// The limits of the prepare process and of each process that it starts. A package manager
// needs a few hundred megabytes for the lists of a large repository.
const (
	maxData  = 1 << 30   // bytes of memory of its own
	maxFile  = 512 << 20 // bytes of a file; a program has at most half of that
	maxFiles = 1024      // open at once
	spare    = 5         // seconds of processor time on top of the budget
	// likelyVictim makes it the first to go when memory is short, of 1000 at most.
	likelyVictim = "800"
)

// limit bounds what this process can take from the others of its machine. It is not
// root's to undo: the hard limits are lowered too.
func limit(budget time.Duration) error {
	debug.SetMemoryLimit(maxData / 4) // the collector tries; the limit below is firm
	signal.Ignore(syscall.SIGXFSZ)    // then a file that is too large is an error
	// As much as all processors can do within the budget: the parent ends it before that.
	seconds := uint64(budget.Seconds()+spare) * uint64(runtime.NumCPU()) //nolint:gosec // G115: not negative
	var problems error
	for name, one := range map[string]struct {
		resource int
		most     uint64
	}{
		"data": {syscall.RLIMIT_DATA, maxData}, "file size": {syscall.RLIMIT_FSIZE, maxFile},
		"open files": {syscall.RLIMIT_NOFILE, maxFiles}, "processor time": {syscall.RLIMIT_CPU, seconds},
		"core": {syscall.RLIMIT_CORE, 0},
	} {
		if err := lower(one.resource, one.most); err != nil {
			problems = errors.Join(problems, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(problems, os.WriteFile("/proc/self/oom_score_adj", []byte(likelyVictim), 0o600))
}

// lower lowers a limit, and leaves one that is lower already.
func lower(resource int, most uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(resource, &now); err != nil {
		return err
	}
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(now.Cur, most), Max: min(now.Max, most)})
}
