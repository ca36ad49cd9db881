package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is a package with all its mutants compiled into the test programs that may kill them.
type bench struct {
	dir, scratch string
	mutants      []*mutant
	seen         map[string]int    // how many mutants have a key
	texts        map[string]string // what is compiled in place of its files
	suites       []*suite
	ready        func() // compiles them, once
	failed       error
}

type suite struct {
	dir, program string
	took         time.Duration
	reached      []string
}

// compile writes nothing into the work tree: the instrumented files reach the compiler as an overlay. Then the
// tests run without a mutant: how long they take, which mutants they reach.
func (b *bench) compile(ctx context.Context) (err error) {
	if b.scratch, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	replace, overlay := map[string]string{}, filepath.Join(b.scratch, "overlay.json")
	for path, text := range b.texts {
		replace[path] = filepath.Join(b.scratch, filepath.Base(path))
		_ = os.WriteFile(replace[path], []byte(text), 0o600) // what can't be written can't be compiled
	}
	raw, _ := json.Marshal(map[string]any{"Replace": replace})
	_ = os.WriteFile(overlay, raw, 0o600)
	for i, s := range b.suites {
		s.program = filepath.Join(b.scratch, fmt.Sprintf("%d.test", i))
		build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.program, "./"+s.dir)
		if said, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", b.dir, err, said)
		}
		if _, err := os.Stat(s.program); err != nil {
			continue // there are no tests
		}
		began, notes := time.Now(), s.program+".reached"
		if said, err := s.run(ctx, 10*time.Minute, "MUTANT_REACHED="+notes); err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", s.dir, err, said)
		}
		reached, _ := os.ReadFile(notes) // none: nothing was reached
		s.took, s.reached = time.Since(began), strings.Fields(string(reached))
	}
	return nil
}

// try finds how a mutant ends: killed, survived, not reached; nothing when the time is over.
func (b *bench) try(ctx context.Context, m *mutant) {
	verdict := "not reached"
	b.ready()
	for _, s := range b.suites {
		if verdict != "killed" && slices.Contains(s.reached, fmt.Sprint(m.id)) {
			verdict = "survived"
			if _, err := s.run(ctx, 4*s.took+10*time.Second, fmt.Sprint("MUTANT=", m.id)); err != nil {
				verdict = "killed"
			}
		}
	}
	if b.failed == nil && ctx.Err() == nil {
		m.verdict = verdict
	}
}

// run ends a test program's time, and bounds its memory: a mutant may loop for ever, or eat all there is.
func (s *suite) run(ctx context.Context, limit time.Duration, mutant string) (said []byte, _ error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(limited, "sh", "-c", `ulimit -v 16777216; exec "$0" -test.failfast`, s.program)
	command.Dir, command.Env = s.dir, append(os.Environ(), mutant)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 5 * time.Second
	return command.CombinedOutput()
}
