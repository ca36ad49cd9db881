//go:build linux

package payload_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/payload"
)

var background = context.Background()

// The test program does this in its own stead when it is started with:
const (
	killAt   = "PAYLOAD_TEST_KILL_AT" // die by kill -9 before this effect
	work     = "PAYLOAD_TEST_WORK"    // apply, rollback or settle
	inFolder = "PAYLOAD_TEST_FOLDER"
)

func TestMain(m *testing.M) {
	if os.Getenv(work) == "" {
		os.Exit(m.Run())
	}
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		panic(err)
	}
	effects := 0
	tree := treeIn(os.Getenv(inFolder))
	tree.Trace.Before = func(string, string) {
		if effects == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		}
		effects++
	}
	switch os.Getenv(work) {
	case "apply":
		err = node{tree}.apply(version, newFiles())
	case "rollback":
		_, err = tree.Rollback()
	case "settle":
		_, err = tree.Recover()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func treeIn(folder string) payload.Tree {
	return payload.Tree{Root: filepath.Join(folder, "root"), State: filepath.Join(folder, "state")}
}

// TestKilledAnywhere kills a process before each of its effects on the disk, and
// then the one that settles what was left open, too. At the end all files are old
// or all are new.
func TestKilledAnywhere(t *testing.T) {
	for _, row := range []struct {
		work          string
		before, after string
	}{
		{"apply", oldTree, newTree},
		{"rollback", newTree, oldTree},
	} {
		t.Run(row.work, func(t *testing.T) {
			ends := map[string]int{}
			for at := 0; ; at++ {
				folder := t.TempDir()
				node := newNodeIn(t, folder)
				if row.before == newTree {
					check(t, node.apply(version, newFiles()))
				}
				killed := inProcess(t, folder, row.work, at)
				inProcess(t, folder, "settle", at%7)
				inProcess(t, folder, "settle", -1)
				end := node.list(t)
				if ends[end]++; end != row.before && end != row.after {
					t.Errorf("killed before effect %d, the node has\n%s", at, end)
				}
				if !killed {
					if end != row.after {
						t.Errorf("it ended, and the node has\n%s", end)
					}
					break
				}
			}
			t.Logf("%d ends as before, %d as after", ends[row.before], ends[row.after])
			if ends[row.after] < 5 || (row.work == "apply" && ends[row.before] < 20) {
				t.Error("the kills were not all over the place")
			}
		})
	}
}

// TestAfterACrashTheNextVersionIsApplied: what was left open is no obstacle.
func TestAfterACrashTheNextVersionIsApplied(t *testing.T) {
	for at := 0; at < 60; at += 5 {
		folder := t.TempDir()
		node := newNodeIn(t, folder)
		inProcess(t, folder, "apply", at)
		check(t, node.apply("202604.01.4", newFiles()))
		node.expect(t, newTree)
	}
}

func inProcess(t *testing.T, folder, what string, at int) (killed bool) {
	t.Helper()
	process := exec.Command(os.Args[0])
	// The race detector would linger for a second at the end.
	process.Env = append(os.Environ(), work+"="+what, inFolder+"="+folder, killAt+"="+strconv.Itoa(at),
		"GORACE=atexit_sleep_ms=0")
	out, err := process.CombinedOutput()
	if status := process.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
	return false
}
