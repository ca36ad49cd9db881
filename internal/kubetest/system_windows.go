package kubetest

import "syscall"

// Tests that need a control plane compile on Windows, and fail there: its programs are built for Linux.
const (
	stop = syscall.Signal(0)
	goOn = syscall.Signal(0)
)

func ownGroup() *syscall.SysProcAttr { return nil }

func ownSession() *syscall.SysProcAttr { return nil }
