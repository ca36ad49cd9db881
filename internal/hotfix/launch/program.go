//go:build linux

package launch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"salve/internal/clock"
)

// The exit codes of what could not be run, as shells have them.
const (
	ExitNotExecutable = 126
	ExitNotFound      = 127
	exitSignal        = 128 // and the signal's number
)

// Program is what to run, with the arguments behind its own name.
type Program struct {
	Path      string
	Arguments []string
	// File is the program itself, and Path its name only: another file may have taken
	// the path since. Replace does not look at it.
	File        *os.File
	Environment []string // on top of this process's own
	Clock       clock.Clock
}

// Replace makes this process the program. It comes back only with an error.
func (p Program) Replace() error {
	err := p.unlessBusy(func() error { return syscall.Exec(p.Path, p.words(), os.Environ()) })
	return fmt.Errorf("%s: %w", p.Path, err)
}

func (p Program) words() []string { return slices.Concat([]string{p.Path}, p.Arguments) }

// ExitOf is the exit code for a program that Replace could not run.
func ExitOf(err error) int {
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return ExitNotFound
	}
	return ExitNotExecutable
}

// ExitAfter is the exit code after a signal, as shells have it.
func ExitAfter(signal syscall.Signal) int { return exitSignal + int(signal) }

// unlessBusy repeats while the program's file is «busy», half a second at most: a
// process holds it open for writing, and is about to let go of it.
func (p Program) unlessBusy(begin func() error) error {
	const tries, pause = 25, 20 * time.Millisecond
	for n := 1; ; n++ {
		err := begin()
		if !errors.Is(err, syscall.ETXTBSY) || n == tries {
			return err
		}
		p.Clock.Sleep(pause)
	}
}
