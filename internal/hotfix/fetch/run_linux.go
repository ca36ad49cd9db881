package fetch

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// run gives a program's output, and an error when it failed. On the context's end
// its whole process group gets SIGTERM, and SIGKILL after the grace.
func run(ctx context.Context, p program) (output string, err error) {
	// The kernel ends the child with the thread that made it (Pdeathsig), so that
	// thread has to stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	kept := &tail{}
	command := exec.CommandContext(ctx, p.path, p.arguments...)
	command.Dir, command.Env = p.folder, environment(p.folder)
	command.Stdout, command.Stderr = kept, kept
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = killGrace
	err = command.Run()
	if command.Process != nil && ctx.Err() != nil {
		// The first process may have ended well while its children did not.
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well; a child of its own still held the output
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%s was ended: %w", filepath.Base(p.path), context.Cause(ctx))
	}
	return string(kept.bytes), err
}
