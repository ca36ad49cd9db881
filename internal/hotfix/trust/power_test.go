//go:build linux

package trust_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"salve/internal/clock"
	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/trust"
)

// TestPowerCutAnywhere cuts the power before each effect on the disk. What was accepted is remembered afterwards; the
// memory is whole, the old one or the new; and the next document is accepted.
func TestPowerCutAnywhere(t *testing.T) {
	for name, before := range map[string]int64{"nothing was seen": 0, "a document was seen": 7} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			s := trust.Store{Path: filepath.Join(top, "state", "trust"), Clock: clock.Real{}}
			if before > 0 {
				check(t, accept(t.Context(), t, s, before))
			} else {
				check(t, os.Mkdir(filepath.Join(top, "state"), 0o755)) // as events make it, without waiting for the disk
			}
			power := hotfixtest.RecordPower(t, top)
			s.Trace = power.Trace()
			check(t, accept(t.Context(), t, s, 8))
			remembered := map[int64]int{}
			for _, cut := range power.Cuts() {
				after := filepath.Join(t.TempDir(), "disk")
				check(t, os.Mkdir(after, 0o755))
				cut.Restore(t, after)
				got := counterAfter(t, after, cut.At)
				remembered[got]++
				if strings.Contains(cut.At, "the end") && got != 8 {
					t.Errorf("%s: it was accepted, and remembered is %d", cut.At, got)
				}
			}
			if remembered[before] < 3 || remembered[8] < 2 || len(remembered) != 2 {
				t.Errorf("the cuts were not all over the place: %v", remembered)
			}
		})
	}
}

// counterAfter is what is remembered; then the next document is accepted.
func counterAfter(t *testing.T, top, at string) (counter int64) {
	t.Helper()
	s := trust.Store{Path: filepath.Join(top, "state", "trust"), Clock: clock.Real{}}
	err := s.Update(t.Context(), func(seen trust.Memory, _ func(trust.Memory) error) error {
		counter = seen.Counter
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", at, err)
	}
	if err := accept(t.Context(), t, s, 9); err != nil {
		t.Errorf("%s: the next one: %v", at, err)
	}
	return counter
}

const (
	killAt  = "TRUST_TEST_KILL_AT"
	inStore = "TRUST_TEST_STORE"
)

// TestKilledAnywhere kills a process that accepts a document before each of its effects on the disk.
func TestKilledAnywhere(t *testing.T) {
	if at, err := strconv.Atoi(os.Getenv(killAt)); err == nil {
		acceptAndDie(t, at)
		return
	}
	remembered := map[int64]int{}
	for at := 0; ; at++ {
		s := newStore(t)
		check(t, accept(t.Context(), t, s, 7))
		killed := acceptInAProcess(t, s, at)
		got := counterAfter(t, filepath.Dir(filepath.Dir(s.Path)), "killed before effect "+strconv.Itoa(at))
		remembered[got]++
		if !killed {
			if got != 8 {
				t.Errorf("it was accepted, and remembered is %d", got)
			}
			break
		}
	}
	if remembered[7] < 3 || remembered[8] < 2 || len(remembered) != 2 {
		t.Errorf("the kills were not all over the place: %v", remembered)
	}
}

func acceptInAProcess(t *testing.T, s trust.Store, at int) (killed bool) {
	t.Helper()
	process := exec.Command(os.Args[0], "-test.run=^TestKilledAnywhere$")
	process.Env = append(os.Environ(), killAt+"="+strconv.Itoa(at), inStore+"="+s.Path, "GORACE=atexit_sleep_ms=0")
	out, err := process.CombinedOutput()
	if status := process.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

func acceptAndDie(t *testing.T, at int) {
	effects := 0
	s := trust.Store{Path: os.Getenv(inStore), Clock: clock.Real{}, Trace: disk.Trace{Before: func(string, string) {
		if effects == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal is there
		}
		effects++
	}}}
	check(t, accept(t.Context(), t, s, 8))
}
