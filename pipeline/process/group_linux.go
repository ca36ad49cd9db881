package process

import "syscall"

// ownGroup begins a process group, whose leader the kernel kills when the program
// that started it is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
