package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix/slot"
)

// TestAHotfixThatCouldNotBeStarted: one that could not for want of something that may be there at the next boot has its
// trial back, three times at most; one that never can has used it.
func TestAHotfixThatCouldNotBeStarted(t *testing.T) {
	for name, row := range map[string]struct {
		why    error
		starts int // that a node makes of it in its life
	}{
		"no place for a process":               {syscall.EAGAIN, 4},
		"no memory":                            {syscall.ENOMEM, 4},
		"no descriptor":                        {syscall.EMFILE, 4},
		"somebody writes to it":                {syscall.ETXTBSY, 4},
		"its interpreter is gone":              {syscall.ENOENT, 1},
		"the disk executes nothing":            {syscall.EACCES, 1},
		"this machine can't execute its words": {syscall.ENOEXEC, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{process: process{stderr: io.Discard, clock: clock.Real{}},
				settings: settings{staged: filepath.Join(t.TempDir(), "hotfix")}}
			staged := slot.Manifest{Target: "202604.01.2", SHA256: strings.Repeat("ab", 32)}
			starts := 0
			for ; starts < 10; starts++ {
				trial, err := n.slot().BeginTrial(t.Context(), staged, time.Now())
				if errors.Is(err, slot.ErrTrialsUsed) {
					break
				}
				check(t, err)
				b := &boot{node: n, event: n.event("launch")}
				b.neverStarted(trial, fmt.Errorf("start: %w", row.why))
				if b.event.Outcome != outcomeFellBack || !strings.Contains(b.event.Problem, row.why.Error()) {
					t.Errorf("the event is %+v", b.event)
				}
			}
			if starts != row.starts {
				t.Errorf("it may be started %d times, want %d", starts, row.starts)
			}
		})
	}
}
