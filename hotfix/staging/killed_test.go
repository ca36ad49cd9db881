package staging_test

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

	"salve/hotfix"
	"salve/hotfix/hotfixtest"
	"salve/hotfix/staging"
)

// The test program does this in its own stead when it is started with:
const (
	killAt  = "STAGING_TEST_KILL_AT" // stage, and die by kill -9 before this effect
	choose  = "STAGING_TEST_CHOOSE"  // print what is chosen
	inSlot  = "STAGING_TEST_SLOT"
	fromOne = "STAGING_TEST_CANDIDATE"
)

func TestMain(m *testing.M) {
	slot := staging.Slot{Baked: filepath.Join(os.Getenv(inSlot), "node"), Staged: filepath.Join(os.Getenv(inSlot), "node-hotfix")}
	switch {
	case os.Getenv(killAt) != "":
		stageAndDie(slot)
	case os.Getenv(choose) != "":
		fmt.Println(slot.Choose(decide(os.Getenv(choose))).Path)
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

func stageAndDie(slot staging.Slot) {
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		panic(err)
	}
	effects, writes := 0, 0
	slot.Trace = func(effect, _ string) {
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
	release, err := slot.Lock(context.Background())
	if err == nil {
		defer release()
		err = slot.Tidy()
	}
	if err == nil {
		_, err = slot.Stage(context.Background(), staging.Candidate{Path: os.Getenv(fromOne), Target: wanted, Source: "the test", Time: time.Now()})
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
			candidate := hotfixtest.Write(t, filepath.Join(t.TempDir(), "candidate"), hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}))
			chosen := map[string]int{}
			for at := 0; ; at++ {
				slot := newSlot(t)
				if before != "" {
					_, err := stage(t, slot, hotfixtest.Image(t, hotfixtest.Behaviour{Version: before}), before)
					check(t, err)
				}
				killed := stageInAProcess(t, slot, candidate, at)
				said := saysWhatIsSelected(t, slot)
				chosen[said]++
				if said != current && said != target {
					t.Errorf("killed before effect %d, %s is selected", at, said)
				}
				if !killed && said != target {
					t.Errorf("staging ended, and %s is selected", said)
				}
				if stageInAProcess(t, slot, candidate, -1) || saysWhatIsSelected(t, slot) != target {
					t.Errorf("killed before effect %d, the next one does not stage", at)
				}
				expectNames(t, slot, "node", "node-hotfix", "node-hotfix.lock", "node-hotfix.manifest")
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

func stageInAProcess(t *testing.T, slot staging.Slot, candidate string, at int) (killed bool) {
	t.Helper()
	process := itself(slot, fromOne+"="+candidate, killAt+"="+strconv.Itoa(at))
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
func itself(slot staging.Slot, role ...string) *exec.Cmd {
	process := exec.Command(os.Args[0])
	// The race detector would linger for a second at the end.
	process.Env = append(os.Environ(), append(role, inSlot+"="+filepath.Dir(slot.Staged), "GORACE=atexit_sleep_ms=0")...)
	return process
}

// saysWhatIsSelected runs what a process of its own selects.
func saysWhatIsSelected(t *testing.T, slot staging.Slot) string {
	t.Helper()
	path, err := itself(slot, choose+"="+target).Output()
	check(t, err)
	said, err := exec.Command(strings.TrimSpace(string(path)), "version").Output()
	if err != nil {
		t.Fatalf("what is selected does not run: %v", err)
	}
	return strings.TrimSpace(string(said))
}
