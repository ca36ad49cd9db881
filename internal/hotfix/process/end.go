//go:build linux

package process

import (
	"context"
	"errors"
	"syscall"
	"time"
	"unsafe"

	"salve/internal/clock"
)

// ErrLeft means that the kernel did not let go of a process that was killed.
var ErrLeft = errors.New("a process that was killed is still there")

// Leave lets go of a tree: what is left of it may go on.
func (t *Tree) Leave() { t.cgroup.remove() }

// End kills the program and all its descendants, and takes in their ends. What the
// kernel has not let go of when ctx ends is left, with ErrLeft.
func (t *Tree) End(ctx context.Context) error {
	const shortest, longest = 100 * time.Microsecond, 50 * time.Millisecond
	for pause := shortest; ; pause = min(2*pause, longest) {
		t.cgroup.kill()
		t.SignalGroup(syscall.SIGKILL)
		t.Signal(syscall.SIGKILL)
		if _, ended := t.Ended(); ended {
			if t.nobody() {
				t.cgroup.remove()
				return nil
			}
			t.killStrays()
		}
		if clock.Sleep(ctx, clock.Real{}, pause) != nil {
			return ErrLeft
		}
	}
}

// killStrays kills those who have left the group, where there is no control group: by
// /proc, which takes a look at each process there is.
func (t *Tree) killStrays() {
	for _, pid := range t.descendants() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// nobody tells whether no descendant is left. All of them descend from children of
// this process, because it adopts those whose parents have died.
func (t *Tree) nobody() bool {
	if t.cgroup.populated() {
		return false
	}
	return childless() || !t.alone && len(t.descendants()) == 0
}

// descendants are those of this process that were started since the program was,
// as far as /proc says. An end that nobody took in is taken in.
func (t *Tree) descendants() []int {
	if childless() {
		return nil
	}
	return below(func(child stat) bool {
		if child.state == 'Z' && child.pid != t.leader && child.started >= t.since {
			_, _ = syscall.Wait4(child.pid, nil, syscall.WNOHANG, nil) // it may be gone already
			return false
		}
		return child.started >= t.since
	})
}

// adopt makes this process the parent of its descendants whose parents die.
func adopt() error {
	const subreaper = 36 // PR_SET_CHILD_SUBREAPER of prctl(2)
	if _, _, number := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, 1, 0); number != 0 {
		return number
	}
	return nil
}

// childless tells whether this process has no children, dead or alive.
func childless() bool {
	number := peek(all, 0, syscall.WNOHANG)
	for number == syscall.EINTR {
		number = peek(all, 0, syscall.WNOHANG)
	}
	return number == syscall.ECHILD
}

// Whom peek looks at: P_ALL and P_PID of waitid(2).
const (
	all = 0
	one = 1
)

// peek waits for the end of a child, and leaves it to be taken in.
func peek(whom, pid, options int) syscall.Errno {
	const exited, leave = 0x4, 0x1000000 // WEXITED and WNOWAIT
	var information [128]byte            // siginfo_t
	_, _, number := syscall.Syscall6(syscall.SYS_WAITID, uintptr(whom), uintptr(pid),
		uintptr(unsafe.Pointer(&information)), //nolint:gosec // G103: the kernel fills it
		uintptr(exited|leave|options), 0, 0)
	return number
}
