//go:build linux

package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// passed are the signals that an operator or a supervisor sends to a program.
func passed() []syscall.Signal {
	return []syscall.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGALRM,
	}
}

// asks tells whether a signal asks to end.
func asks(one syscall.Signal) bool {
	return slices.Contains([]syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT}, one)
}

// Signals are those that this process gets from now on.
type Signals struct {
	passed   chan os.Signal
	children chan os.Signal // one of them has ended
	got      map[syscall.Signal]bool
	asked    syscall.Signal // the first that asked to end, or 0
}

// Listen takes the signals that are meant for a program, but those that were ignored
// when this process began, as under nohup: the program is to ignore them too. What
// a shell ignores is known to its wrapper; for a child in its background it makes
// SIGINT and SIGQUIT ignored on top of that.
func Listen(wrapper *Wrapper) *Signals {
	s := &Signals{
		passed: make(chan os.Signal, 64), children: make(chan os.Signal, 1), got: map[syscall.Signal]bool{},
	}
	for _, one := range passed() {
		if wrapper == nil && !signal.Ignored(one) || wrapper != nil && !wrapper.ignores(one) {
			signal.Notify(s.passed, one)
		}
	}
	if wrapper != nil {
		wrapper.ignoreTheSame()
	}
	signal.Notify(s.children, syscall.SIGCHLD)
	return s
}

// Asked is the first signal that asked this process to end; 0 if there was none.
func (s *Signals) Asked() syscall.Signal {
	for {
		select {
		case one := <-s.passed:
			s.note(one)
		default:
			return s.asked
		}
	}
}

// note remembers a signal.
func (s *Signals) note(one os.Signal) syscall.Signal {
	number, _ := one.(syscall.Signal) // what it is on Linux
	s.got[number] = true
	if s.asked == 0 && asks(number) {
		s.asked = number
	}
	return number
}

// explain tells whether the death by a signal was somebody's wish: he sent it, or
// asked to end.
func (s *Signals) explain(death syscall.Signal) bool { return s.got[death] || s.asked != 0 }
