//go:build unix

package kubetest

import "syscall"

// stop and goOn are signals that make a process stop and go on, whatever it does with others.
const (
	stop = syscall.SIGSTOP
	goOn = syscall.SIGCONT
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
