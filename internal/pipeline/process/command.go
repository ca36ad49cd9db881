package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"salve/internal/clock"
)

// Command is a command to run.
type Command struct {
	Path      string
	Arguments []string
	// Stdin is all that it reads from its standard input. What it leaves unread is nobody's loss.
	Stdin []byte
	// Folder is where it runs.
	Folder string
	// Environment is all that it gets, as NAME=value.
	Environment []string
	// Stdout and Stderr get what it and its children say. When they are the same
	// writer, lines stay in the order in which they were written.
	Stdout, Stderr io.Writer
	// Mark is written into the environment, where Marked finds it again; see there.
	Mark string
	// Grace is the time between SIGTERM and SIGKILL when it has to end.
	Grace time.Duration
	Clock clock.Clock
}

// markVariable carries the mark into every process that a command starts.
const markVariable = "SALVE_MARK"

// Exit is how a command ended.
type Exit struct {
	// Code is the exit code of a command that ended by itself.
	Code int
	// Signal is what killed it; 0 when it ended by itself.
	Signal syscall.Signal
	// Stopped says that it was told to end, because its context had ended.
	Stopped bool
	// Left are processes of its group that could not be ended.
	Left []Process
	// Unheard is why not all that it said could be written. What became of the
	// command does not depend on it.
	Unheard error
}

// ByItself tells whether the command decided how it ended: then its exit code
// says what became of it. Otherwise it was cut off in the middle.
func (e Exit) ByItself() bool { return e.Signal == 0 }

func (e Exit) String() string {
	if e.ByItself() {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return fmt.Sprintf("killed by signal %d (%s)", int(e.Signal), e.Signal)
}

// lingering is how long the outputs of a command that has ended are read on,
// while something that left its group holds them open.
const lingering = time.Second

// The pauses between two looks whether a group is empty grow from the first to the
// last: a look costs more the more processes there are.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// yielding is how long what got SIGKILL may take to end. The kernel holds up what
// waits for a device, and refuses to end what another user has started.
const yielding = 3 * time.Second

// Run runs the command to its end, and the whole of its process group with it:
// nothing in the group outlives it, but what even SIGKILL does not end. When ctx
// ends first, the group gets SIGTERM. What is left of it a grace later gets SIGKILL.
// The error says that the command could not be started.
func (c Command) Run(ctx context.Context) (Exit, error) {
	if err := errors.Join(context.Cause(ctx), supported()); err != nil {
		return Exit{}, err
	}
	command := &exec.Cmd{
		Path: c.Path, Args: append([]string{c.Path}, c.Arguments...), Dir: c.Folder,
		Env: slices.Clone(c.Environment), SysProcAttr: ownGroup(),
	}
	if c.Mark != "" {
		command.Env = append(command.Env, markVariable+"="+c.Mark)
	}
	input, err := c.input()
	if err != nil {
		return Exit{}, err
	}
	if input != nil {
		command.Stdin = input
		defer input.Close()
	}
	out, err := c.outputs(command)
	if err != nil {
		return Exit{}, err
	}
	defer holdThread()()
	if err := command.Start(); err != nil {
		return Exit{}, errors.Join(fmt.Errorf("starting %s: %w", c.Path, err), out.abandon())
	}
	out.begin()
	ended := make(chan struct{})
	var stopping sync.WaitGroup
	stopped := false
	stopping.Go(func() { stopped = c.stop(ctx, command.Process.Pid, ended) })
	_ = command.Wait() // its state says more than this error
	left := c.empty(command.Process.Pid)
	close(ended)
	stopping.Wait()
	exit := exitOf(command.ProcessState)
	exit.Stopped, exit.Left, exit.Unheard = stopped, left, out.end()
	return exit, nil
}

// input is a file without a name that holds what the command reads: nobody has to write on while it runs, and nothing
// waits for somebody who never reads it. It is nil where there is nothing to read.
func (c Command) input() (*os.File, error) {
	if len(c.Stdin) == 0 {
		return nil, nil
	}
	file, err := os.CreateTemp("", "salve-input-")
	if err != nil {
		return nil, fmt.Errorf("writing what %s reads: %w", c.Path, err)
	}
	_, err = file.Write(c.Stdin)
	if _, sought := file.Seek(0, io.SeekStart); err == nil {
		err = sought
	}
	if removed := os.Remove(file.Name()); err == nil {
		err = removed
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing what %s reads: %w", c.Path, err), file.Close())
	}
	return file, nil
}

func exitOf(state *os.ProcessState) Exit {
	exit := Exit{Code: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal()
	}
	return exit
}

// stop ends the group once ctx has ended. It gives whether it had to.
func (c Command) stop(ctx context.Context, group int, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return false
	case <-ctx.Done():
	}
	signal(group, syscall.SIGTERM)
	timer := c.Clock.NewTimer(c.Grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C():
		signal(group, syscall.SIGKILL)
	}
	return true
}

// empty ends what a leader that has ended left in its group, with the same grace.
// It gives what could not be ended.
func (c Command) empty(group int) []Process {
	told, pause := syscall.SIGTERM, firstPause
	for began := c.Clock.Now(); ; pause = min(2*pause, lastPause) {
		signal(group, told)
		left := members(group)
		reap(group)
		waited := c.Clock.Since(began)
		switch {
		case len(left) == 0 || waited >= c.Grace+yielding:
			return left
		case waited >= c.Grace:
			told = syscall.SIGKILL
		default:
			told = syscall.Signal(0)
		}
		<-c.Clock.After(pause)
	}
}
