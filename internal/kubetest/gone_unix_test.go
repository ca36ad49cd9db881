//go:build unix

package kubetest_test

import (
	"errors"
	"syscall"
)

func gone(process int) bool { return errors.Is(syscall.Kill(process, 0), syscall.ESRCH) }
