package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is a package with all its mutants compiled into the test programs that may kill them.
type bench struct {
	dir, scratch string
	files        *regexp.Regexp
	sites        []site
	dropped      map[string]bool // file:line of what doesn't compile when instrumented
	suites       []*suite
	ready        func() error
}

type suite struct {
	dir, tests, program string
	took                time.Duration
	reached             map[string]bool
}

var refused = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go:\d+):\d+: `)

// compile writes nothing into the work tree: the instrumented files reach the compiler as an overlay.
func (b *bench) compile(ctx context.Context) (err error) {
	texts, replace, overlay := map[string]string{}, map[string]string{}, filepath.Join(b.scratch, "overlay.json")
	if b.sites, texts, err = instrument(b.dir, b.files, b.dropped); err != nil {
		return err
	}
	for path, text := range texts {
		replace[path] = filepath.Join(b.scratch, filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return err
		}
	}
	raw, _ := json.Marshal(map[string]any{"Replace": replace})
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		return err
	}
	for i, s := range b.suites {
		s.program = filepath.Join(b.scratch, fmt.Sprintf("%d.test", i))
		args := []string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", s.program, "./" + s.dir}
		if said, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
			before := len(b.dropped)
			for _, line := range refused.FindAllStringSubmatch(string(said), -1) {
				b.dropped[line[1]] = true
			}
			if len(b.dropped) == before {
				return fmt.Errorf("%s: %w\n%s", b.dir, err, said)
			}
			return b.compile(ctx)
		}
	}
	return nil
}

func (b *bench) prepare(ctx context.Context) error {
	if err := os.Mkdir(b.scratch, 0o700); err != nil {
		return err
	}
	if err := b.compile(ctx); err != nil {
		return err
	}
	return b.baseline(ctx)
}

// baseline runs the tests without a mutant: how long they take, which sites they reach.
func (b *bench) baseline(ctx context.Context) error {
	for _, s := range b.suites {
		began, notes := time.Now(), s.program+".reached"
		if said, err := b.run(ctx, s, 10*time.Minute, "MUTANT_REACHED="+notes); err != nil {
			return fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", s.dir, err, said)
		}
		raw, _ := os.ReadFile(notes) // none: nothing was reached
		s.took, s.reached = time.Since(began), map[string]bool{}
		for id := range strings.FieldsSeq(string(raw)) {
			s.reached[id] = true
		}
	}
	return nil
}

// try tells how a mutant ended: killed, timed out, survived, not reached; empty when it can't be compiled.
func (b *bench) try(ctx context.Context, key string) (verdict string, _ error) {
	if err := b.ready(); err != nil {
		return "", err
	}
	at := slices.IndexFunc(b.sites, func(m site) bool { return m.key() == key })
	if at < 0 {
		return "", nil
	}
	verdict = "not reached"
	for _, s := range b.suites {
		if id := fmt.Sprint(b.sites[at].id); s.reached[id] {
			switch _, err := b.run(ctx, s, 4*s.took+10*time.Second, "MUTANT="+id); err {
			case nil:
				verdict = "survived"
			case context.DeadlineExceeded:
				return "timed out", nil
			default:
				return "killed", nil
			}
		}
	}
	return verdict, nil
}

// run ends a test program's time, and bounds its memory: a mutant may loop for ever, or eat all there is.
func (b *bench) run(ctx context.Context, s *suite, limit time.Duration, mutant string) (said string, _ error) {
	if _, err := os.Stat(s.program); err != nil {
		return "", nil // a package without tests
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(limited, "sh", "-c", `ulimit -v 16777216; exec "$0" "$@"`, s.program,
		"-test.failfast", "-test.timeout="+(limit+5*time.Second).String(), "-test.run="+s.tests)
	flags := "GOFLAGS=" + os.Getenv("GOFLAGS") + " -overlay=" + filepath.Join(b.scratch, "overlay.json")
	command.Dir, command.Env = s.dir, append(os.Environ(), mutant, flags)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 5 * time.Second
	out := &bytes.Buffer{}
	command.Stdout, command.Stderr = out, out
	err := command.Run()
	return out.String(), cmp.Or(limited.Err(), err)
}
