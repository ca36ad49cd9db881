package cli

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"salve/journal"
)

// site is a folder with a pipeline, in which the real program is run.
type site struct {
	*testing.T
	folder, program string
}

func newSite(t *testing.T, text string) *site {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash here")
	}
	s := &site{T: t, folder: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test's program is salve when it is called by that name.
	s.program = filepath.Join(s.folder, "salve")
	if err := os.Symlink(self, s.program); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "pipeline.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// salve is the program, ready to be started in the folder.
func (s *site) salve(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, s.program, append(arguments, "--journal", "j")...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "HOME="+s.folder, "XDG_STATE_HOME="+filepath.Join(s.folder, "state"),
		keyFileVariable+"="+filepath.Join(s.folder, "j", "key"), "LEDGER="+filepath.Join(s.folder, "ledger"))
	return command
}

func (s *site) read(name string) string {
	raw, err := os.ReadFile(filepath.Join(s.folder, name))
	if err != nil {
		return ""
	}
	return string(raw)
}

func (s *site) until(holds func() bool) {
	s.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	s.Fatal("waited in vain")
}

// shellStep is a step that writes into the ledger when it begins and ends; what
// makes it long is a child of its shell.
func shellStep(name, more string) string {
	return fmt.Sprintf("  - name: %s\n    action: Shell\n    shellIdentity: {value: none}\n"+
		"    command: echo begin %s >>$LEDGER; (sleep 0.1; echo end %s >>$LEDGER) & wait\n%s", name, name, name, more)
}

const siteHead = "$schema: pipeline.schema.v1\nserviceGroup: Example.Kill\nrolloutName: Kill\nrevision: '1'\n" +
	"resourceGroups:\n- name: g\n  resourceGroup: rg\n  subscription: sub\n  steps:\n"

var asked = regexp.MustCompile(`--answer (\S+)=done`)

// TestKilledRollout kills the real program at random moments. Whoever goes on runs
// no step again that the record shows to be done, asks about those that were cut
// off, and finds nothing running that nobody knows of.
func TestKilledRollout(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a killed program leaves is looked for on Linux")
	}
	chance := rand.New(rand.NewPCG(2026, 6))
	for seed := range 8 {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			text := siteHead
			for i := range 9 {
				more := ""
				if i >= 3 {
					more = fmt.Sprintf("    dependsOn: [{resourceGroup: g, step: s%d}]\n", i-3)
				}
				if i%4 == 0 {
					more += "    idempotent: true\n"
				}
				text += shellStep(fmt.Sprintf("s%d", i), more)
			}
			s := newSite(t, text)
			killed := s.salve(t.Context(), "pipeline", "run", "pipeline.yaml", "--pass", "LEDGER")
			if err := killed.Start(); err != nil {
				t.Fatal(err)
			}
			s.until(func() bool { return strings.Contains(s.read("ledger"), "begin s0") })
			time.Sleep(time.Duration(chance.IntN(450)) * time.Millisecond)
			_ = killed.Process.Kill()
			_ = killed.Wait()
			s.finish()
		})
	}
}

// finish goes on with the run until it ends, and checks the ledger.
func (s *site) finish() {
	s.Helper()
	store := journal.NewFile(filepath.Join(s.folder, "j"))
	runs, err := store.Runs(s.Context())
	if err != nil || len(runs) != 1 {
		s.Fatalf("runs %v, %v", runs, err)
	}
	before, err := journal.Load(s.Context(), store, runs[0])
	if err != nil {
		s.Fatal(err)
	}
	if before.Closed != nil {
		return // it was quicker than the kill
	}
	arguments := []string{"resume", runs[0]}
	for {
		// A runner that went is not a runner: its lease is free at once.
		command := s.salve(s.Context(), arguments...)
		out, err := command.CombinedOutput()
		if err == nil {
			break
		}
		questions := asked.FindAllStringSubmatch(string(out), -1)
		if command.ProcessState.ExitCode() != exitNeedsAttention || len(questions) == 0 || len(arguments) > 2 {
			s.Fatalf("resume: %v\n%s", err, out)
		}
		for _, question := range questions {
			arguments = append(arguments, "--answer", question[1]+"=again")
		}
	}
	for i := range 9 {
		name := fmt.Sprintf("s%d", i)
		began, ended := strings.Count(s.read("ledger"), "begin "+name), strings.Count(s.read("ledger"), "end "+name)
		if before.Step("g/"+name).Finished() && began != 1 || ended < 1 || began > 2 {
			s.Errorf("%s began %d times and ended %d times\n%s", name, began, ended, s.read("ledger"))
		}
	}
}

// TestKilledRolloutLeavesNothingRunning: a grandchild that outlived the kill is
// ended by whoever goes on, and that is written down.
func TestKilledRolloutLeavesNothingRunning(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a killed program leaves is looked for on Linux")
	}
	s := newSite(t, siteHead+"  - name: long\n    action: Shell\n    shellIdentity: {value: none}\n    idempotent: true\n"+
		"    command: if test -e second; then exit 0; fi; (trap '' TERM; echo $BASHPID >child; exec sleep 600) & wait\n")
	killed := s.salve(t.Context(), "pipeline", "run", "pipeline.yaml", "--grace", "300ms")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	sleeps := func() bool { // it is the shell until it executes sleep
		line, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(s.read("child")), "cmdline"))
		return err == nil && bytes.Contains(line, []byte("sleep"))
	}
	s.until(sleeps)
	_ = killed.Process.Kill()
	_ = killed.Wait()
	if !sleeps() {
		t.Fatal("the grandchild did not outlive the kill: there is nothing to prove")
	}
	if err := os.WriteFile(filepath.Join(s.folder, "second"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := s.salve(t.Context(), "pipeline", "run", "pipeline.yaml", "--grace", "300ms").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "step g/long had left running, and these were ended: ") {
		t.Errorf("%v\n%s", err, out)
	}
	if sleeps() {
		t.Error("the grandchild is still there")
	}
}

// TestInterruptedRollout: Ctrl-C reaches the steps, which end in their own way,
// and it is said what did and what did not run.
func TestInterruptedRollout(t *testing.T) {
	s := newSite(t, siteHead+shellStep("first", "")+
		"  - name: tidy\n    action: Shell\n    shellIdentity: {value: none}\n    "+
		"dependsOn: [{resourceGroup: g, step: first}]\n"+
		"    command: trap 'echo tidied >>$LEDGER; exit 9' TERM; echo ready >>$LEDGER; while :; do sleep 0.05; done\n"+
		shellStep("last", "    dependsOn: [{resourceGroup: g, step: tidy}]\n"))
	var out bytes.Buffer
	running := s.salve(t.Context(), "pipeline", "run", "pipeline.yaml", "--pass", "LEDGER")
	running.Stdout, running.Stderr = &out, &out
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	s.until(func() bool { return strings.Contains(s.read("ledger"), "ready") })
	_ = running.Process.Signal(os.Interrupt)
	_ = running.Wait()
	if code := running.ProcessState.ExitCode(); code != exitNeedsAttention {
		t.Errorf("exit code %d", code)
	}
	contains(t, out.String(), "interrupted; 1 of 3 steps are done; not done: g/tidy; not begun: g/last. "+
		"To go on: salve resume")
	contains(t, s.read("ledger"), "tidied")
}
