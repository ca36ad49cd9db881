//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestTheLineOfTheChoice: what String writes is read, and nothing else is.
func TestTheLineOfTheChoice(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	for _, good := range []choice{
		{reason: "no-hotfix"}, {reason: "no-hotfix", decided: "untrusted"},
		{reason: "trials-used", decided: "install", target: "202604.01.2"},
		{reason: "older", decided: "install", target: "202604.01.2-u1"},
		{reason: "staged", decided: "install", target: "202604.01.2", digest: digest},
	} {
		if read, err := parseChoice(good.String()); err != nil || read != good {
			t.Errorf("%q is read as %+v, %v", good, read, err)
		}
	}
	for name, line := range map[string]string{
		"nothing":                     "",
		"another format":              "salve-node-choice-1 no-hotfix - - -",
		"a word too few":              "salve-node-choice-2 no-hotfix - -",
		"a word too many":             "salve-node-choice-2 no-hotfix - - - -",
		"an empty word":               "salve-node-choice-2 no-hotfix -  -",
		"two blanks":                  "salve-node-choice-2  no-hotfix - - -",
		"a reason that is none":       "salve-node-choice-2 because - - -",
		"a reason of the parent's":    "salve-node-choice-2 not-counted - - -",
		"a decision that is none":     "salve-node-choice-2 no-hotfix because - -",
		"a target that is none":       "salve-node-choice-2 trials-used install 1.2.3 -",
		"a target with more to it":    "salve-node-choice-2 trials-used install 202604.01.2;reboot -",
		"staged without a digest":     "salve-node-choice-2 staged install 202604.01.2 -",
		"a digest without staged":     "salve-node-choice-2 no-hotfix install 202604.01.2 " + digest,
		"half a digest":               "salve-node-choice-2 staged install 202604.01.2 " + digest[:32],
		"a digest in capital letters": "salve-node-choice-2 staged install 202604.01.2 " + strings.ToUpper(digest),
		"a digest that is a path":     "salve-node-choice-2 staged install 202604.01.2 ../../etc/passwd",
	} {
		if read, err := parseChoice(line); err == nil {
			t.Errorf("%s is read as %+v", name, read)
		}
	}
}

// TestPrepareHasLimits: the kernel holds it to them, and takes it first when memory is short.
func TestPrepareHasLimits(t *testing.T) {
	m := newMachine(t)
	m.stage(hotfixtest.Behaviour{})
	locked(m)
	boot := m.start()
	process := fmt.Sprintf("/proc/%d/", m.find("prepare"))
	m.eventually("its limits", func() bool {
		raw, err := os.ReadFile(process + "oom_score_adj") // the last that it sets
		return err == nil && string(raw) == likelyVictim+"\n"
	})
	raw, err := os.ReadFile(process + "limits")
	check(t, err)
	for name, most := range map[string]int{"Max data size": maxData, "Max file size": maxFile, "Max open files": maxFiles,
		"Max core file size": 0} {
		if line := lineOf(raw, name); strings.Count(line, fmt.Sprintf(" %d ", most)) != 2 { // soft and hard
			t.Errorf("%s, want %d", line, most)
		}
	}
	if line := lineOf(raw, "Max cpu time"); strings.Contains(line, "unlimited") {
		t.Error(line)
	}
	if parent, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", m.find("launch"))); err != nil ||
		!strings.Contains(lineOf(parent, "Max data size"), "unlimited") {
		t.Errorf("launch is limited too: %s, %v", parent, err)
	}
	check(t, boot.Process.Signal(syscall.SIGTERM))
	if code := m.end(boot); code != 143 {
		t.Errorf("exit code %d", code)
	}
}

func lineOf(text []byte, beginning string) string {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(beginning)) {
			return string(line)
		}
	}
	return beginning + " is not there"
}

// TestScriptsAreSettledBeforeAnythingRuns: the prepare process may be killed when half of them are changed.
func TestScriptsAreSettledBeforeAnythingRuns(t *testing.T) {
	m := newMachine(t)
	m.stage(hotfixtest.Behaviour{})
	lock := locked(m)
	check(t, os.MkdirAll(filepath.Join(m.flags["state"], "scripts"), 0o700))
	// A change that was cut off while it was prepared: it is taken back.
	record := filepath.Join(m.flags["state"], "scripts", "swap.json")
	check(t, os.WriteFile(record, []byte(`{"schemaVersion":1,"version":"202604.01.2","stage":"preparing","kept":"before","files":[]}`), 0o600))
	boot := m.start()
	first := m.find("prepare")
	check(t, syscall.Kill(first, syscall.SIGKILL))
	m.eventually("another process settles it", func() bool { return m.find("prepare") != first })
	if ran := m.programs(); len(ran) > 0 {
		t.Errorf("ran %q before that", ran)
	}
	check(t, lock.Close())
	if code := m.end(boot); code != bakedCode || !slices.Equal(m.programs(), baked) {
		t.Errorf("exit code %d, ran %q\n%s", code, m.programs(), m.log())
	}
	if _, err := os.Stat(record); !os.IsNotExist(err) {
		t.Errorf("the change is still open: %v\n%s", err, m.log())
	}
}

// TestASwappedProgramNeverRuns: somebody puts another program in the staged one's place, again and again while nodes
// boot. What runs is the one that was verified, or the baked one.
func TestASwappedProgramNeverRuns(t *testing.T) {
	m := newMachine(t)
	m.stage(hotfixtest.Behaviour{})
	m.confirmed()
	good, err := os.ReadFile(m.staged)
	check(t, err)
	evil := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "evil"})
	over, swapped := make(chan struct{}), make(chan int)
	go func() {
		swaps := 0
		for {
			select {
			case <-over:
				swapped <- swaps
				return
			default:
				hotfixtest.Write(t, m.staged, [][]byte{evil, good}[swaps%2])
				swaps++
			}
		}
	}()
	const boots = 40
	for range boots {
		m.boot()
	}
	close(over)
	swaps := <-swapped
	counts := map[string]int{}
	for _, line := range m.lines() {
		name, _, _ := strings.Cut(line, " provision")
		counts[name]++
	}
	if counts["ran evil"] > 0 || counts["ran "+stagedVersion]+counts[m.baked] != boots || swaps < boots {
		t.Errorf("%v after %d swaps", counts, swaps)
	}
	if marks, _ := filepath.Glob(m.staged + ".bad/*"); len(marks) > 0 {
		t.Errorf("marked bad: %v, and it never failed", marks)
	}
	if reason := slot.Reason(m.launched().Reason); reason == reasonUnprepared {
		t.Errorf("the last boot was %s: %s", reason, m.log())
	}
}
