package process

import (
	"errors"
	"fmt"
	"syscall"
)

// supported says that no command is run on Windows: what a command starts there can't be told from other processes
// by a group, so that ending the command would leave its children at work.
func supported() error {
	return fmt.Errorf("running commands of a pipeline on Windows: %w: the processes that a command starts can't be "+
		"ended with it. hint: run this on Linux or macOS, or in WSL", errors.ErrUnsupported)
}

func ownGroup() *syscall.SysProcAttr { return nil }

func holdThread() (release func()) { return func() {} }

func members(int) []Process { return nil }

func kill(int, syscall.Signal) {}

func signal(int, syscall.Signal) {}

func reap(int) {}
