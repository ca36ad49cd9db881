//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix/event"
)

// broken is a clock that fails where a mistake in the program would.
type broken struct {
	clock.Real
	calls, at int
}

func (b *broken) Now() time.Time {
	if b.calls++; b.calls == b.at {
		panic("a mistake")
	}
	return b.Real.Now()
}

// TestAPanicIsAnEvent makes each command fail at its beginning: it still answers,
// and its exit code is 0. Prepare fails before it limits the process that it is in, which is this one.
func TestAPanicIsAnEvent(t *testing.T) {
	for _, one := range commands() {
		// launch would take this process's place, and prepare would limit it.
		if !one.failsOpen() || one.name == "launch" || one.name == "prepare" {
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			var out, said bytes.Buffer
			n := newNode(t, &out, &said, &broken{at: 1})
			n.arguments = []string{one.name, "--strict", "--baked", "/the/baked/one", "--pointer", "/nowhere"}
			if code := n.openly(one, n.settings.flags()); code != exitDone {
				t.Errorf("exit code %d", code)
			}
			if one.name == "select" && out.String() != "/the/baked/one\n" {
				t.Errorf("it printed %q", out.String())
			}
			events, _, err := n.events().Last(9)
			check(t, err)
			if len(events) != 1 || events[0].Outcome != outcomePanic || events[0].Level != event.Error ||
				!strings.Contains(events[0].Problem, "a mistake") {
				t.Errorf("events: %+v", events)
			}
		})
	}
}

// TestNobodyReads: a log that has gone away ends neither salve-node nor the boot,
// and what is launched has the signal's default back.
func TestNobodyReads(t *testing.T) {
	folder := t.TempDir()
	baked := folder + "/node"
	check(t, os.WriteFile(baked, []byte("#!/bin/sh\ngrep SigIgn /proc/self/status >&3\n"), 0o755))
	for _, command := range []string{"launch", "select", "decide", "fetch"} {
		t.Run(command, func(t *testing.T) {
			read, write, err := os.Pipe()
			check(t, err)
			check(t, read.Close())
			defer write.Close()
			out, err := os.Create(folder + "/" + command)
			check(t, err)
			defer out.Close()
			run := exec.Command(releasedNode(t), command, "--baked", baked, "--pointer", folder+"/none", "--state",
				folder+"/state", "--unknown")
			run.Stdout, run.Stderr, run.ExtraFiles = write, write, []*os.File{out}
			check(t, run.Run())
			printed, err := os.ReadFile(out.Name())
			check(t, err)
			if command != "launch" {
				return
			}
			ignored, err := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(string(printed), "SigIgn:")), 16, 64)
			if err != nil || ignored&(1<<(syscall.SIGPIPE-1)) != 0 {
				t.Errorf("the baked program ran with %q, %v", printed, err)
			}
		})
	}
}

func newNode(t *testing.T, out, said *bytes.Buffer, time clock.Clock) *node {
	t.Helper()
	state := t.TempDir()
	n := &node{process: process{clock: time}}
	n.stdout, n.stderr = out, said
	n.lookup = func(name string) (string, bool) { return state, name == variable("state") }
	n.settings.state = state
	return n
}

// TestAPanicKeepsNothingFromRunning: what comes after a part that failed is done.
func TestAPanicKeepsNothingFromRunning(t *testing.T) {
	var said bytes.Buffer
	n := newNode(t, &said, &said, clock.Real{})
	if n.safely("fetch", func() { panic("a mistake") }) {
		t.Error("it ended well")
	}
	if !strings.Contains(said.String(), "fetch: a mistake in salve-node itself: a mistake") {
		t.Error(said.String())
	}
	if !n.safely("fetch", func() {}) {
		t.Error("it did not end")
	}
}
