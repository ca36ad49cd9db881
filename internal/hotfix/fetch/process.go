package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// killGrace is how long a package manager that has to end gets to end well.
	killGrace = time.Second
	// outputKept bounds what is kept of its output, in bytes from the end.
	outputKept = 64 << 10
)

// program is a package manager's command, run without a shell.
type program struct {
	path      string
	arguments []string
	folder    string
}

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

// environment is all that a package manager gets of ours: a proxy.
func environment(folder string) []string {
	clean := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_ALL=C", "HOME=" + folder, "TMPDIR=" + folder, "DEBIAN_FRONTEND=noninteractive",
	}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy"} {
		for _, name := range []string{name, strings.ToUpper(name)} {
			if value, set := os.LookupEnv(name); set {
				clean = append(clean, name+"="+value)
			}
		}
	}
	return clean
}

// lookPath finds a program in a search path.
func lookPath(searchPath, name string) (string, bool) {
	for _, folder := range filepath.SplitList(searchPath) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// tail keeps the end of what is written.
type tail struct{ bytes []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.bytes = append(t.bytes, p...)
	if extra := len(t.bytes) - outputKept; extra > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[extra:]...)
	}
	return len(p), nil
}
