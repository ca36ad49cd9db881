//go:build unix

package signing

import (
	"os/exec"
	"syscall"
)

// endWithChildren makes a command that has to end take with it what it has started.
func endWithChildren(process *exec.Cmd) {
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
}
