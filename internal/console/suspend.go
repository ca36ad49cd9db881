//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// unheeded is how long a process that was asked to stop waits to be continued when it was not stopped: the kernel
// discards the signal where no shell is there to continue the process. It passes on the wall clock.
const unheeded = 200 * time.Millisecond

// suspend gives the terminal back when the user types Ctrl-Z, and draws again when the process goes on. What the run
// does then is the engine's: a lease that nobody renewed meanwhile is looked at before the next change.
func (l *Live) suspend() {
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	defer signal.Stop(stops)
	for {
		select {
		case <-stops:
			l.stopped()
		case <-l.ended:
			return
		}
	}
}

// stopped stops the process, and returns when it was continued.
func (l *Live) stopped() {
	l.terminal.Lock()
	defer l.terminal.Unlock()
	if l.closed {
		return
	}
	_ = l.program.ReleaseTerminal() // one that can't be given back is stopped all the same
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	// Not SIGTSTP: the runtime keeps its handler of a signal that was once asked for (runtime.sigdisable). This one does
	// the same, and is discarded as well where nobody could continue the process.
	_ = syscall.Kill(os.Getpid(), syscall.SIGTTOU)
	select {
	case <-continued:
	case <-time.After(unheeded):
	}
	_ = l.program.RestoreTerminal()
	l.program.Send(tea.ClearScreen())
}
