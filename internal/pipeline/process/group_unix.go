//go:build unix

package process

import "syscall"

// supported is nil: a process group can be ended as a whole.
func supported() error { return nil }

// kill reaches one process.
func kill(pid int, signal syscall.Signal) { _ = syscall.Kill(pid, signal) } // one that has ended is what was wanted

// signal reaches every process of a group.
func signal(group int, signal syscall.Signal) { kill(-group, signal) }

// reap buries the dead of a group whose leader has been waited for, where they are
// ours: a process without a parent falls to the first of its container.
func reap(group int) {
	for {
		if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); err != nil || pid <= 0 {
			return
		}
	}
}
