//go:build linux

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"salve/internal/clock"
)

// TestNothingThatATerminalObeys: what a server, a package manager or a file of somebody's says is shown, and no more.
func TestNothingThatATerminalObeys(t *testing.T) {
	const evil = "404 \x1b]0;title\x07\x1b[2J \u009b31m \u202etxt.exe\nHINT:\r \x00 \xff end"
	var stdout, stderr bytes.Buffer
	n := &node{process: process{stdout: &stdout, stderr: &stderr, clock: clock.Real{}},
		settings: settings{state: t.TempDir(), staged: t.TempDir() + "/hotfix", output: "table", last: 10}}
	raw := n.event("fetch")
	raw.Problem, raw.Reason, raw.Target = evil, evil, evil // as another program would write it
	check(t, n.events().Write(raw, time.Now()))
	told := n.event("launch")
	told.Problem = oneLine(errors.New(evil))
	n.record(told)
	n.warn(evil)
	if code := n.runStatus(); code != exitDone {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for name, said := range map[string]string{
		"status": stdout.String(), "warning": stderr.String(), "event": told.Problem,
	} {
		lines := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
		if want := map[string]int{"status": 3, "warning": 1, "event": 1}[name]; len(lines) != want {
			t.Errorf("%s has %d lines, want %d: %q", name, len(lines), want, said)
		}
		for _, line := range lines {
			if strings.ContainsFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }) {
				t.Errorf("%s has %q", name, line)
			}
		}
		if !strings.Contains(said, "404 ") {
			t.Errorf("%s does not have what can be seen: %q", name, said)
		}
	}
}
