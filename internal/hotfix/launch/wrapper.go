//go:build linux

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"salve/internal/clock"
)

// Wrapper is the shell in whose background this process runs (deploy/salve-node.service).
// It runs the baked program when this process has ended, unless it gets SIGURG.
type Wrapper struct {
	process int
	ignored uint64 // the set of the signals that it ignores
}

// answerTime is how long the shell may take to say that it got the signal. Measured:
// it is a matter of a millisecond, or of a machine that is busy.
const answerTime = 5 * time.Second

// FindWrapper looks at the parent. It is an error if SIGURG would not reach it: then
// nothing may run that it would run once more.
func FindWrapper() (*Wrapper, error) {
	parent := os.Getppid()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/status")
	if err != nil {
		return nil, fmt.Errorf("look at the shell that started this: %w", err)
	}
	caught, blocked := signalSet(raw, "SigCgt"), signalSet(raw, "SigBlk")
	if !has(caught, syscall.SIGURG) || has(blocked, syscall.SIGURG) {
		return nil, errors.New("the shell that started this does not listen for SIGURG")
	}
	return &Wrapper{process: parent, ignored: signalSet(raw, "SigIgn")}, nil
}

// signalSet reads a set of signals, https://man7.org/linux/man-pages/man5/proc_pid_status.5.html.
func signalSet(status []byte, name string) uint64 {
	_, after, _ := strings.Cut(string(status), "\n"+name+":")
	line, _, _ := strings.Cut(after, "\n")
	set, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	if err != nil {
		return 0
	}
	return set
}

func has(set uint64, one syscall.Signal) bool { return set&(1<<(one-1)) != 0 }

// ignores tells which signals a program is to ignore too. SIGCONT is the shell's answer to Finish.
func (w *Wrapper) ignores(one syscall.Signal) bool {
	return one != syscall.SIGCONT && has(w.ignored, one)
}

// ignoreTheSame ignores what the shell does, so that a program inherits it from this
// process as it would from the shell.
func (w *Wrapper) ignoreTheSame() {
	stops := []syscall.Signal{syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}
	for _, one := range append(passed(), stops...) {
		if w.ignores(one) {
			signal.Ignore(one)
		}
	}
}

// Finish tells the shell that the program has run to its end, and that this process's
// exit code is its own. It answers with SIGCONT: without waiting for that, bash loses
// the exit code of a child that ends while it is at the signal. It is told again until it
// answers: bash may lose a signal that comes together with another.
func (w *Wrapper) Finish(signals *Signals, clk clock.Clock) {
	late := clk.After(answerTime)
	for {
		if os.Getppid() != w.process || syscall.Kill(w.process, syscall.SIGURG) != nil {
			return // it is gone
		}
		again := clk.After(answerTime / 20)
		for waiting := true; waiting; {
			select {
			case one := <-signals.passed:
				if signals.note(one) == syscall.SIGCONT {
					return
				}
			case <-again:
				waiting = false
			case <-late:
				return
			}
		}
	}
}
