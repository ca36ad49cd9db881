//go:build linux

package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/pipeline/process"
)

// runAsTheFirst runs a command as the program does that is the first of its
// container: all orphans fall to it. It tells how that ended, and whether a child is
// left that nobody waits for.
func runAsTheFirst(text string) {
	const setChildSubreaper = 36 // prctl(2)
	if _, _, failed := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); failed != 0 {
		fmt.Println("prctl:", failed)
		os.Exit(1)
	}
	bash, _ := exec.LookPath("bash")
	ending, err := process.Command{
		Path: bash, Arguments: []string{"-c", text}, Environment: os.Environ(),
		Stdout: os.Stdout, Stderr: os.Stdout, Grace: 100 * time.Millisecond, Clock: clock.RealClock{},
	}.Run(context.Background())
	fmt.Println(ending, "left:", process.List(ending.Left), "error:", err)
	_, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	fmt.Println("no child is left:", errors.Is(err, syscall.ECHILD))
	os.Exit(0)
}

// asTheFirst gives what a program says that runs a command as the first one, and
// that is started behind these words.
func asTheFirst(t *testing.T, text string, before ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := append(before, self)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	runner := exec.CommandContext(ctx, words[0], words[1:]...)
	runner.Dir, runner.Env = t.TempDir(), append(os.Environ(), "RUN_AS_THE_FIRST="+text)
	said, err := runner.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return string(said)
}

// TestOrphansAreBuried: in a container a step's orphans fall to salve. They are not
// waited for as if they were alive.
func TestOrphansAreBuried(t *testing.T) {
	const want = "started\nexit code 0 left:  error: <nil>\nno child is left: true\n"
	if said := asTheFirst(t, "sleep 600 & echo started"); said != want {
		t.Errorf("said %q, want %q", said, want)
	}
}

// TestTheDeadAreNotWaitedFor: what has ended, and has a parent in another session
// that never looks at it, does not hold up the command that it belonged to.
func TestTheDeadAreNotWaitedFor(t *testing.T) {
	var out bytes.Buffer
	command := shell(t,
		`bash -c 'sleep 0.05 & exec setsid sleep 600 >/dev/null 2>&1' & echo $! >daemon; until [ "$(ps -o sid= -p $!)" -eq $! ]; do sleep 0.01; done`, &out)
	began := time.Now()
	ending, err := command.Run(t.Context())
	daemon, readErr := os.ReadFile(filepath.Join(command.Folder, "daemon"))
	if pid, wrong := strconv.Atoi(strings.TrimSpace(string(daemon))); readErr == nil && wrong == nil {
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
	if err != nil || ending.Code != 0 || len(ending.Left) > 0 {
		t.Fatalf("%+v, %v, said %s", ending, err, out.String())
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestWhatCantBeEnded is said, and not waited for.
func TestWhatCantBeEnded(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("only root can start what it then may not end")
	}
	pid := filepath.Join(t.TempDir(), "pid")
	t.Cleanup(func() {
		text, _ := os.ReadFile(pid)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	said := asTheFirst(t, "setpriv --reuid 65534 --clear-groups sleep 600 >/dev/null 2>&1 & echo $! >"+pid+
		"; until [ \"$(ps -o ruid= -p $!)\" -eq 65534 ]; do sleep 0.01; done",
		setpriv, "--bounding-set", "-kill")
	if !strings.Contains(said, "exit code 0 left: ") || !strings.Contains(said, "(sleep 600) error: <nil>") {
		t.Errorf("said %q", said)
	}
}

// TestWhatCantBeWritten: how a command ended does not depend on who listened.
func TestWhatCantBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	command := shell(t, "head -c 200000 /dev/zero; exit 3", &bytes.Buffer{})
	command.Stdout, command.Stderr = full, full
	ending, err := command.Run(t.Context())
	if err != nil || ending.Code != 3 || !errors.Is(ending.Unheard, syscall.ENOSPC) {
		t.Errorf("%+v, %v", ending, err)
	}
}
