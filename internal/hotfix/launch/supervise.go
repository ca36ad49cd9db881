package launch

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// passed are the signals that an operator or a supervisor sends to a program.
func passed() []os.Signal {
	return []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGALRM,
	}
}

// echo is how much later than the program a signal may reach this process that was
// sent to both, by a terminal or by systemd.
const echo = 200 * time.Millisecond

// Supervise runs the program to its end, with this process's standard streams,
// and passes signals on to it.
func (p Program) Supervise() Exit {
	signals := make(chan os.Signal, 64)
	for _, one := range passed() {
		if !signal.Ignored(one) { // as under nohup; the program is to ignore it too
			signal.Notify(signals, one)
		}
	}
	defer signal.Stop(signals)
	command, err := p.start()
	if err != nil {
		return notStarted(err)
	}
	started := p.Clock.Now()
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // how it ended is in its state
		close(ended)
	}()
	given := sent{}
	for {
		select {
		case one := <-signals:
			given.add(one)
			_ = command.Process.Signal(one) // it may be gone already
		case <-ended:
			young := p.Clock.Since(started) < p.Trial
			status, _ := command.ProcessState.Sys().(syscall.WaitStatus) // what it is on Linux
			given.await(signals, p.Clock.After(echo), status)
			return classify(status, young, given)
		}
	}
}

// classify tells how the program ended. An exit code is its own affair; a signal is
// its fault when it came early and from nobody.
func classify(status syscall.WaitStatus, young bool, given sent) Exit {
	if !status.Signaled() {
		return Exit{Code: status.ExitStatus()}
	}
	exit := Exit{Code: exitSignal + int(status.Signal())}
	if young && !given.explain(status.Signal()) {
		exit.Fault = fmt.Sprintf("it died from the signal %q", status.Signal())
	}
	return exit
}

// sent are the signals that this process got and passed on.
type sent map[os.Signal]bool

func (s sent) add(one os.Signal) { s[one] = true }

// explain tells whether the death by a signal was somebody's wish: he sent it, or
// asked the program to end.
func (s sent) explain(death syscall.Signal) bool {
	return s[death] || s[syscall.SIGTERM] || s[syscall.SIGINT] || s[syscall.SIGQUIT] || s[syscall.SIGHUP]
}

// await takes in what was sent to this process at the same time as to the program,
// when the program died from a signal.
func (s sent) await(signals <-chan os.Signal, late <-chan time.Time, status syscall.WaitStatus) {
	for status.Signaled() && !s.explain(status.Signal()) {
		select {
		case one := <-signals:
			s.add(one)
		case <-late:
			return
		}
	}
}
