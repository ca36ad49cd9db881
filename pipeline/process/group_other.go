//go:build !linux

package process

import "syscall"

// ownGroup begins a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
