//go:build linux

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix/process"
)

const (
	// Grace is how long a program that is overdue may take to end by itself.
	Grace = 5 * time.Second
	// echo is how much later than the program a signal may reach this process that was
	// sent to both, by systemd.
	echo = 200 * time.Millisecond
	// patience is how long the kernel may take to let go of those who were killed.
	patience = 10 * time.Second
)

// End is how a program ended.
type End int

// The ends.
const (
	Exited  End = iota // with an exit code
	Died               // from a signal that nobody has sent
	Stopped            // somebody asked it to
	Overdue            // it did not end, and was killed
)

// Exit is what came of a program.
type Exit struct {
	End  End
	Code int // the exit code to pass on
	// Says it in a few words.
	Says string
}

// Run is a program that runs.
type Run struct {
	tree    *process.Tree
	signals *Signals
	clock   clock.Clock
}

// Start begins the program with this process's standard streams. The goroutine must be
// locked to its thread until the end.
func (p Program) Start(signals *Signals) (*Run, error) {
	tree, err := process.Start(process.Program{
		Path: descriptorPath(p.File), Arguments: p.words(), Environment: slices.Concat(os.Environ(), p.Environment),
		Files: standardStreams(), Ours: true,
	})
	if err != nil {
		return nil, err
	}
	return &Run{tree: tree, signals: signals, clock: p.Clock}, nil
}

// descriptorPath is a path to an open file, whatever its name leads to by now. The
// child has a copy of the descriptor until it is the program, and then no longer.
func descriptorPath(file *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", file.Fd()) }

// standardStreams are the three. Those that were closed are by now /dev/null, by Go's doing.
func standardStreams() []*os.File { return []*os.File{os.Stdin, os.Stdout, os.Stderr} }

// Scarce tells whether a program could not be started for want of something that may
// be there next time.
func Scarce(err error) bool {
	scarce := []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY, syscall.EINTR}
	return slices.ContainsFunc(scarce, func(one error) bool { return errors.Is(err, one) })
}

// Wait passes signals on until the program has ended, or the time is over. Then it is
// asked to end, and killed.
func (r *Run) Wait(ctx context.Context, within time.Duration) Exit {
	deadline := r.clock.NewTimer(within)
	defer deadline.Stop()
	var kill <-chan time.Time
	overdue := false
	for {
		if status, ended := r.tree.Ended(); ended {
			return r.classify(status, overdue, within)
		}
		select {
		case one := <-r.signals.passed:
			r.tree.Signal(r.signals.note(one))
		case <-r.signals.children:
		case <-deadline.C():
			overdue = true
			r.tree.SignalGroup(syscall.SIGTERM)
			kill = r.clock.After(Grace)
		case <-kill:
			if r.EndRest(ctx) != nil {
				return Exit{End: Overdue, Code: ExitAfter(syscall.SIGKILL), Says: "it can't be killed"}
			}
		}
	}
}

// classify tells how the program ended.
func (r *Run) classify(status syscall.WaitStatus, overdue bool, within time.Duration) Exit {
	exit := Exit{Code: status.ExitStatus(), Says: fmt.Sprintf("it ended with exit code %d", status.ExitStatus())}
	if status.Signaled() {
		if !overdue {
			r.awaitEcho(status.Signal())
		}
		exit = Exit{End: Died, Code: ExitAfter(status.Signal()),
			Says: fmt.Sprintf("it died from the signal %q", status.Signal())}
	}
	switch asked := r.signals.Asked(); {
	case overdue && asked != 0: // an exit code after that says nothing
		exit.End, exit.Code = Stopped, ExitAfter(asked)
	case asked != 0, status.Signaled() && r.signals.explain(status.Signal()):
		exit.End = Stopped
	case overdue:
		exit.End, exit.Says = Overdue, fmt.Sprintf("it did not end within %s", within)
	}
	return exit
}

// awaitEcho takes in what was sent to this process at the same time as to the program,
// when the program died from a signal.
func (r *Run) awaitEcho(death syscall.Signal) {
	late := r.clock.After(echo)
	for !r.signals.explain(death) {
		select {
		case one := <-r.signals.passed:
			r.signals.note(one)
		case <-late:
			return
		}
	}
}

// EndRest kills whom the program has left behind.
func (r *Run) EndRest(ctx context.Context) error {
	limited, cancel := clock.WithTimeout(ctx, r.clock, patience)
	defer cancel()
	return r.tree.End(limited)
}

// LeaveRest lets them go on.
func (r *Run) LeaveRest() { r.tree.Leave() }
