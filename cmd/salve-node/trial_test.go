//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/launch"
	"salve/internal/hotfix/slot"
)

// TestAHotfixThatCouldNotBeStarted: one that could not for want of something that may be there at the next boot has its
// trial back, three times at most; one that never can has used it.
func TestAHotfixThatCouldNotBeStarted(t *testing.T) {
	for name, row := range map[string]struct {
		why    error
		starts int // that a node makes of it in its life
	}{
		"no place for a process":               {syscall.EAGAIN, 4},
		"no memory":                            {syscall.ENOMEM, 4},
		"no descriptor":                        {syscall.EMFILE, 4},
		"somebody writes to it":                {syscall.ETXTBSY, 4},
		"its interpreter is gone":              {syscall.ENOENT, 1},
		"the disk executes nothing":            {syscall.EACCES, 1},
		"this machine can't execute its words": {syscall.ENOEXEC, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{process: process{stderr: io.Discard, clock: clock.Real{}},
				settings: settings{staged: filepath.Join(t.TempDir(), "hotfix")}}
			staged := slot.Manifest{Target: "202604.01.2", SHA256: strings.Repeat("ab", 32)}
			starts := 0
			for ; starts < 10; starts++ {
				trial, err := n.slot().BeginTrial(t.Context(), staged, time.Now())
				if errors.Is(err, slot.ErrTrialsUsed) {
					break
				}
				check(t, err)
				b := &boot{node: n, event: n.event("launch")}
				b.neverStarted(trial, fmt.Errorf("start: %w", row.why))
				if b.event.Outcome != outcomeFellBack || !strings.Contains(b.event.Problem, row.why.Error()) {
					t.Errorf("the event is %+v", b.event)
				}
			}
			if starts != row.starts {
				t.Errorf("it may be started %d times, want %d", starts, row.starts)
			}
		})
	}
}

// TestAStopBeforeTheStartStartsNothing: whoever stops the unit while the program is read stops it before it has begun,
// and its trial does not count.
func TestAStopBeforeTheStartStartsNothing(t *testing.T) {
	folder := t.TempDir()
	ran := filepath.Join(folder, "ran")
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.2", Becomes: "echo >" + ran})
	n := &node{process: process{stderr: io.Discard, clock: clock.Real{}}, settings: settings{
		staged: filepath.Join(folder, "hotfix"), state: filepath.Join(folder, "state"), budget: time.Minute,
		deadline: time.Minute,
	}}
	target, err := hotfix.ParseVersion("202604.01.2")
	check(t, err)
	brought := hotfixtest.Write(t, filepath.Join(folder, "brought"), image)
	staged, err := n.slot().Stage(t.Context(), slot.Candidate{Path: brought, Target: target, Time: time.Now()})
	check(t, err)

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t.Cleanup(func() { signal.Reset() })
	sent := make(chan os.Signal, 1)
	signal.Notify(sent, syscall.SIGTERM)
	b := &boot{node: n, event: n.event("launch"), began: time.Now(), signals: launch.Listen(nil)}
	check(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	<-sent
	signal.Stop(sent) // it comes back when whoever listens has the signal

	code, over := b.runStaged(choice{reason: string(slot.Staged), target: staged.Target, digest: staged.SHA256})
	if !over || code != launch.ExitAfter(syscall.SIGTERM) || b.event.Outcome != outcomeStopped {
		t.Errorf("over: %v, exit code %d, %+v", over, code, b.event)
	}
	if _, err := os.Stat(ran); b.run != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Error("it was started")
	}
	if trial, err := n.slot().ReadTrial(); err != nil || trial.Trials != 0 || trial.Stops != 1 {
		t.Errorf("the trial is %+v, %v", trial, err)
	}
}
