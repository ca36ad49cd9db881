package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/hotfix/event"
)

// broken is a clock that fails where a mistake in the program would.
type broken struct {
	clock.RealClock
	calls, at int
}

func (b *broken) Now() time.Time {
	if b.calls++; b.calls == b.at {
		panic("a mistake")
	}
	return b.RealClock.Now()
}

// TestAPanicIsAnEvent makes each command fail at one place: it still answers, and
// its exit code is 0.
func TestAPanicIsAnEvent(t *testing.T) {
	for _, one := range commands() {
		if !one.failsOpen || one.name == "launch" { // which would take this process's place
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			var out, said bytes.Buffer
			folder := t.TempDir()
			n := &node{process: process{stdout: &out, stderr: &said}, clock: &broken{at: 1}}
			n.settings.flags()
			n.settings.state, n.settings.pointer, n.settings.strict = folder, filepath.Join(folder, "none"), true
			if code := n.openly(one); code != exitDone {
				t.Errorf("exit code %d", code)
			}
			if one.name == "select" && out.String() != defaultBaked+"\n" {
				t.Errorf("it printed %q", out.String())
			}
			events, _, err := event.Folder{Path: filepath.Join(folder, "events")}.Last(9)
			check(t, err)
			if len(events) != 1 || events[0].Outcome != outcomePanic || events[0].Level != event.Error || !strings.Contains(events[0].Problem, "a mistake") {
				t.Errorf("events: %+v", events)
			}
		})
	}
}

// TestAPanicKeepsNothingFromRunning: what comes after a part that failed is done.
func TestAPanicKeepsNothingFromRunning(t *testing.T) {
	var said bytes.Buffer
	n := &node{process: process{stdout: &said, stderr: &said}, clock: clock.RealClock{}}
	n.settings.flags()
	n.settings.state = t.TempDir()
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
