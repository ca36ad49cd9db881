package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"salve/internal/clock"
)

// Trial is how long after its start a program that dies is to blame for it.
const Trial = 10 * time.Second

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
	Trial     time.Duration
	Clock     clock.Clock
}

// Exit is how a program ended.
type Exit struct {
	Code int // the exit code to pass on
	// Fault says what the program itself did wrong; empty when it just ended. After
	// a fault another program may be run instead.
	Fault string
	// Blameless: the program did not run for want of memory or the like. It is a
	// fault, and no reason to avoid this program next time.
	Blameless bool
}

// Replace makes this process the program. It comes back only with an error.
func (p Program) Replace() error {
	words := slices.Concat([]string{p.Path}, p.Arguments)
	err := p.unlessBusy(func() error { return syscall.Exec(p.Path, words, os.Environ()) })
	return fmt.Errorf("%s: %w", p.Path, err)
}

// ExitOf is the exit code for a program that Replace could not run.
func ExitOf(err error) int {
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return ExitNotFound
	}
	return ExitNotExecutable
}

// start begins the program.
func (p Program) start() (command *exec.Cmd, err error) {
	err = p.unlessBusy(func() error {
		command = exec.Command(p.Path, p.Arguments...) //nolint:noctx // it outlives whoever launched it
		command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
		return command.Start()
	})
	return command, err
}

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

// notStarted checks why a program could not be started.
func notStarted(err error) Exit {
	scarce := []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY}
	return Exit{
		Code:      ExitOf(err),
		Fault:     fmt.Sprintf("it could not be started: %v", err),
		Blameless: slices.ContainsFunc(scarce, func(one error) bool { return errors.Is(err, one) }),
	}
}
