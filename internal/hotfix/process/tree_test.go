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
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/process"
)

// The test program does this in its own stead when it is started with:
const (
	starts = "PROCESS_TEST_STARTS" // start this shell script, wait for the file $READY and
	then   = "PROCESS_TEST_THEN"   // end, leave, or die
	mark   = "PROCESS_TEST_MARK"   // all of its processes have it in their environment
)

func TestMain(m *testing.M) {
	if os.Getenv(starts) == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	tree, err := process.Start(process.Program{
		Path: "/bin/sh", Arguments: []string{"sh", "-c", os.Getenv(starts)}, Environment: os.Environ(), Ours: true,
		Files: []*os.File{nil, os.Stdout, os.Stderr},
	})
	if err != nil {
		panic(err)
	}
	for ready := ""; !strings.Contains(ready, "ready"); {
		raw, _ := os.ReadFile(os.Getenv("READY")) // it comes
		ready = string(raw)
	}
	switch os.Getenv(then) {
	case "end":
		fmt.Println("group:", syscall.Getpgrp() != os.Getpid())
		fmt.Println("end:", tree.End(context.Background()))
		_, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		fmt.Println("children:", !errors.Is(err, syscall.ECHILD))
	case "leave":
		tree.Leave()
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
}

const ready = "echo ready >$READY; "

// TestEndReachesEverybody, wherever they went, and takes in their ends.
func TestEndReachesEverybody(t *testing.T) {
	for name, script := range map[string]string{
		"the program":                  ready + "sleep 3600; sleep 3600",
		"one that has ended":           ready,
		"one that ignores all signals": `trap "" HUP INT QUIT TERM USR1; ` + ready + "sleep 3600; sleep 3600",
		"one that has stopped":         ready + "kill -STOP $$",
		"its children":                 "sleep 3600 & sleep 3600 & " + ready + "wait",
		"children without parents":     "(sleep 3600 & sleep 3600 &); " + ready,
		"children of another session":  "setsid sh -c '" + ready + "sleep 3600; sleep 3600' & exit 3",
		"children of children of another": "setsid sh -c 'setsid sh -c \"(setsid sleep 3600 &) ; " + ready +
			"sleep 3600; sleep 3600\" & sleep 3600' & wait",
		"those who go on forking": "f() { while :; do (sleep 3600 &); sleep 0.01; done; }; f & f & " +
			ready + "wait",
		"those who fork into other sessions": "setsid sh -c 'n=0; while [ $n -lt 1000 ]; do n=$((n+1)); " +
			"setsid sleep 60 & sleep 0.01; done' & " + ready + "wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := inProcess(t, script, "end")
			for _, want := range []string{"group: true", "end: <nil>", "children: false"} {
				if !strings.Contains(out, want) {
					t.Errorf("it says\n%s", out)
				}
			}
		})
	}
}

// TestEndSparesWhomOthersHaveStarted: this process may have children from before the program, whose end is not meant.
func TestEndSparesWhomOthersHaveStarted(t *testing.T) {
	before := exec.Command("sleep", "3600")
	check(t, before.Start())
	t.Cleanup(func() {
		_ = before.Process.Kill() // its end is waited for
		_ = before.Wait()
	})
	started := process.Started(before.Process.Pid)
	gone(t, "the kernel's tick of that start", func() bool {
		later := exec.Command("sleep", "3600")
		check(t, later.Start())
		defer func() { _ = later.Wait() }()
		defer func() { _ = later.Process.Kill() }()
		return process.Started(later.Process.Pid) > started
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tree, err := process.Start(process.Program{Path: "/bin/sh",
		Arguments: []string{"sh", "-c", "setsid sleep 3600 & sleep 3600"}, Environment: os.Environ()})
	check(t, err)
	within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	check(t, tree.End(within))
	if process.Started(before.Process.Pid) == 0 {
		t.Error("a child of another's was killed")
	}
}

// TestTheProgramDiesWithItsParent; what it has started does not, but for who knows the group.
func TestTheProgramDiesWithItsParent(t *testing.T) {
	command, folder := prepared(t, "sleep 3600 & echo $$ >$READY.program; "+ready+"exec sleep 3600", "die")
	_ = command.Run() // it kills itself
	program, err := os.ReadFile(folder + "/ready.program")
	check(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(program)))
	check(t, err)
	gone(t, "the program", func() bool { return process.Started(pid) == 0 })
	if left := marked(t, folder); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	check(t, syscall.Kill(-command.Process.Pid, syscall.SIGKILL)) // as the unit's shell does
	gone(t, "its group", func() bool { return len(marked(t, folder)) == 0 })
}

// TestLeaveLeavesThem: a program that has succeeded may have started somebody.
func TestLeaveLeavesThem(t *testing.T) {
	command, folder := prepared(t, "setsid sleep 3600 >/dev/null 2>&1 & "+ready, "leave")
	check(t, command.Run())
	left := marked(t, folder)
	if len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	for _, one := range left {
		pid, err := strconv.Atoi(one)
		check(t, errors.Join(err, syscall.Kill(pid, syscall.SIGKILL)))
	}
}

// TestAGroupOfItsOwn: where systemd has delegated ours the program begins in a group below it, which is gone then.
func TestAGroupOfItsOwn(t *testing.T) {
	for name, delegated := range map[string]bool{"delegated": true, "not delegated": false} {
		t.Run(name, func(t *testing.T) {
			group := newGroup(t, delegated)
			command, folder := prepared(t, "cat /proc/self/cgroup; setsid sleep 3600 & "+ready+"wait", "end")
			directory, err := os.Open(group)
			check(t, err)
			defer directory.Close()
			command.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(directory.Fd())}
			out, err := command.CombinedOutput()
			check(t, err)
			own := fmt.Sprintf("%s/%s\n", filepath.Base(group), process.CgroupName(command.Process.Pid))
			if strings.Contains(string(out), own) != delegated || !strings.Contains(string(out), "end: <nil>") {
				t.Errorf("it says\n%s", out)
			}
			if left := marked(t, folder); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if below, err := filepath.Glob(group + "/*/"); err != nil || len(below) > 0 {
				t.Errorf("groups are left: %v, %v", below, err)
			}
		})
	}
}

func newGroup(t *testing.T, delegated bool) string {
	t.Helper()
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		group := filepath.Join(mount, fmt.Sprintf("process-test-%d-%t", os.Getpid(), delegated))
		if _, err := os.Stat(mount + "/cgroup.controllers"); err != nil || os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { gone(t, "the group", func() bool { return syscall.Rmdir(group) == nil }) })
		if delegated {
			if err := syscall.Setxattr(group, "trusted.delegate", []byte("1"), 0); err != nil {
				t.Skipf("the group can't be delegated: %v", err)
			}
		}
		return group
	}
	t.Skip("no control group of version 2 can be made here")
	return ""
}

func TestStartedNamesOneProcess(t *testing.T) {
	own := process.Started(os.Getpid())
	if own == 0 || own == process.Started(1) || process.Started(1<<30) != 0 {
		t.Errorf("%d, %d, %d", own, process.Started(1), process.Started(1<<30))
	}
	ended := exec.Command("true")
	check(t, ended.Start())
	gone(t, "who has ended and was not taken in", func() bool { return process.Started(ended.Process.Pid) == 0 })
	check(t, ended.Wait())
}

// TestWhatCannotBeStarted: the error says what it is, and nobody is left.
func TestWhatCannotBeStarted(t *testing.T) {
	for path, want := range map[string]error{
		"/nowhere": syscall.ENOENT, "/etc/passwd": syscall.EACCES, "/": syscall.EACCES,
	} {
		_, err := process.Start(process.Program{Path: path, Arguments: []string{path}})
		var which *os.PathError
		if !errors.Is(err, want) || !errors.As(err, &which) || which.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// inProcess runs a script in a process of its own, and what it does then.
func inProcess(t *testing.T, script, what string) string {
	t.Helper()
	command, folder := prepared(t, script, what)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left := marked(t, folder); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	return string(out)
}

func prepared(t *testing.T, script, what string) (*exec.Cmd, string) {
	t.Helper()
	folder := t.TempDir()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), starts+"="+script, then+"="+what, mark+"="+folder, "READY="+folder+"/ready",
		"GORACE=atexit_sleep_ms=0")
	return command, folder
}

// marked are the processes that have a mark in their environment.
func marked(t *testing.T, folder string) (found []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	check(t, err)
	for _, path := range paths {
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte(mark+"="+folder+"\x00")) {
			found = append(found, filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}

// gone waits for somebody to be gone who is about to.
func gone(t *testing.T, who string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	overdue := time.After(time.Minute)
	for !is() {
		select {
		case <-tick.C:
		case <-overdue:
			t.Fatalf("%s is still there", who)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
