//go:build linux

package slot_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// The test program does this in its own stead when it is started with:
const (
	killAt  = "STAGING_TEST_KILL_AT" // stage, and die by kill -9 before this effect
	choose  = "STAGING_TEST_CHOOSE"  // print what is chosen
	inSlot  = "STAGING_TEST_SLOT"
	fromOne = "STAGING_TEST_CANDIDATE"
)

func TestMain(m *testing.M) {
	s := slot.Slot{Baked: filepath.Join(os.Getenv(inSlot), "node"), Staged: filepath.Join(os.Getenv(inSlot),
		"node-hotfix")}
	switch {
	case os.Getenv(killAt) != "":
		stageAndDie(s)
	case os.Getenv(choose) != "":
		fmt.Println(s.Choose(decide(os.Getenv(choose))).Path)
	default:
		os.Exit(m.Run())
	}
}

func decide(wanted string) hotfix.Decision {
	pointer, err := hotfix.ParsePointer(fmt.Appendf(nil, `{"version":%q}`, wanted))
	if err != nil {
		panic(err)
	}
	return hotfix.Decide(current, pointer)
}

func stageAndDie(s slot.Slot) {
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		panic(err)
	}
	effects, writes := 0, 0
	s.Trace.Before = func(effect, _ string) {
		if effect == "write" {
			if writes++; writes%16 != 2 { // the chunks of a program are many, and all the same
				return
			}
		}
		if effects == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		}
		effects++
	}
	wanted, err := hotfix.ParseVersion(target)
	if err != nil {
		panic(err)
	}
	release, err := s.Lock(context.Background())
	if err == nil {
		defer release()
		err = s.Tidy()
	}
	if err == nil {
		_, err = s.Stage(context.Background(), slot.Candidate{Path: os.Getenv(fromOne), Target: wanted, Source: "the test",
			Time: time.Now()})
	}
	if err != nil {
		panic(err)
	}
}

// TestKilledAnywhere kills a process that stages before each of its effects on the
// disk. Whatever is then selected runs, and the next one stages as if nothing had
// happened.
func TestKilledAnywhere(t *testing.T) {
	for name, before := range map[string]string{"nothing was staged": "", "another hotfix was staged": "202604.01.1"} {
		t.Run(name, func(t *testing.T) {
			candidate := hotfixtest.Write(t, filepath.Join(t.TempDir(), "candidate"),
				hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}))
			chosen := map[string]int{}
			for at := 0; ; at++ {
				s := newSlot(t)
				if before != "" {
					_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: before}), before)
					check(t, err)
				}
				killed := stageInAProcess(t, s, candidate, at)
				said := saysWhatIsSelected(t, s)
				chosen[said]++
				if said != current && said != target {
					t.Errorf("killed before effect %d, %s is selected", at, said)
				}
				if !killed && said != target {
					t.Errorf("staging ended, and %s is selected", said)
				}
				if stageInAProcess(t, s, candidate, -1) || saysWhatIsSelected(t, s) != target {
					t.Errorf("killed before effect %d, the next one does not stage", at)
				}
				expectNames(t, s, "node", "node-hotfix", "node-hotfix.lock", "node-hotfix.manifest")
				if !killed {
					break
				}
			}
			if chosen[current] < 10 || chosen[target] < 2 {
				t.Errorf("the kills were not all over the place: %v", chosen)
			}
		})
	}
}

func stageInAProcess(t *testing.T, s slot.Slot, candidate string, at int) (killed bool) {
	t.Helper()
	process := itself(s, fromOne+"="+candidate, killAt+"="+strconv.Itoa(at))
	out, err := process.CombinedOutput()
	if status := process.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// itself is this test program in another role.
func itself(s slot.Slot, role ...string) *exec.Cmd {
	process := exec.Command(os.Args[0])
	// The race detector would linger for a second at the end.
	process.Env = append(os.Environ(), append(role, inSlot+"="+filepath.Dir(s.Staged), "GORACE=atexit_sleep_ms=0")...)
	return process
}

// saysWhatIsSelected runs what a process of its own selects.
func saysWhatIsSelected(t *testing.T, s slot.Slot) string {
	t.Helper()
	path, err := itself(s, choose+"="+target).Output()
	check(t, err)
	said, err := exec.Command(strings.TrimSpace(string(path)), "version").Output()
	if err != nil {
		t.Fatalf("what is selected does not run: %v", err)
	}
	return strings.TrimSpace(string(said))
}
