//go:build unix && !linux

package process

import "syscall"

// ownGroup begins a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// holdThread is for Linux.
func holdThread() (release func()) { return func() {} }

// members gives a group as a whole when there is any process in it.
func members(group int) []Process {
	if syscall.Kill(-group, 0) != nil {
		return nil
	}
	return []Process{{PID: -group, Command: "its process group"}}
}
