//go:build linux

package slot_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// onTrial is a slot with a good program that was not started yet.
func onTrial(t *testing.T) (slot.Slot, slot.Manifest) {
	t.Helper()
	s := newSlot(t)
	manifest, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
	check(t, err)
	return s, manifest
}

// TestTheRecordOfTrials: what is allowed after a number of starts, by how each ended.
func TestTheRecordOfTrials(t *testing.T) {
	const crash = slot.Ending(-1) // nobody writes down how it ended
	for name, row := range map[string]struct {
		limit  int
		starts []slot.Ending
		then   slot.Reason
	}{
		"it was never started":                   {1, nil, slot.Staged},
		"it failed":                              {1, []slot.Ending{slot.Unconfirmed}, slot.TrialsUsed},
		"the machine crashed":                    {1, []slot.Ending{crash}, slot.TrialsUsed},
		"it was confirmed":                       {1, []slot.Ending{slot.Confirmed}, slot.Staged},
		"it was confirmed, and failed later":     {1, []slot.Ending{slot.Confirmed, slot.Unconfirmed, crash}, slot.Staged},
		"it was stopped":                         {1, []slot.Ending{slot.GivenBack}, slot.Staged},
		"it was stopped, and failed then":        {1, []slot.Ending{slot.GivenBack, slot.Unconfirmed}, slot.TrialsUsed},
		"it was stopped again and again":         {1, slices.Repeat([]slot.Ending{slot.GivenBack}, 4), slot.TrialsUsed},
		"it failed once of two times":            {2, []slot.Ending{slot.Unconfirmed}, slot.Staged},
		"it failed twice of two times":           {2, []slot.Ending{slot.Unconfirmed, crash}, slot.TrialsUsed},
		"it was confirmed at the second start":   {2, []slot.Ending{slot.Unconfirmed, slot.Confirmed}, slot.Staged},
		"no trial is allowed, and one is needed": {0, nil, slot.Staged},
	} {
		t.Run(name, func(t *testing.T) {
			s, manifest := onTrial(t)
			s.Trials = row.limit
			for _, ending := range row.starts {
				trial, err := s.BeginTrial(t.Context(), manifest, time.Now())
				check(t, err)
				if ending != crash {
					_, err := s.EndTrial(t.Context(), trial, ending)
					check(t, err)
				}
			}
			expectChoice(t, s, target, row.then)
			_, err := s.BeginTrial(t.Context(), manifest, time.Now())
			if (row.then == slot.TrialsUsed) != errors.Is(err, slot.ErrTrialsUsed) {
				t.Errorf("the next start: %v", err)
			}
		})
	}
}

// TestANewProgramHasTrialsOfItsOwn, and takes none from the one before it.
func TestANewProgramHasTrialsOfItsOwn(t *testing.T) {
	s, manifest := onTrial(t)
	trial, err := s.BeginTrial(t.Context(), manifest, time.Now())
	check(t, err)
	_, err = s.EndTrial(t.Context(), trial, slot.Confirmed)
	check(t, err)
	next, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.3"}), "202604.01.3")
	check(t, err)
	trial, err = s.BeginTrial(t.Context(), next, time.Now())
	if err != nil || trial.Confirmed || trial.Trials != 1 || trial.Target != "202604.01.3" {
		t.Errorf("%+v, %v", trial, err)
	}
}

// TestConfirming: only what is running can be confirmed, and only once it is.
func TestConfirming(t *testing.T) {
	s, manifest := onTrial(t)
	refuses := func(when string) {
		t.Helper()
		if _, err := s.Confirm(t.Context()); !errors.Is(err, slot.ErrNoTrial) {
			t.Errorf("%s: %v", when, err)
		}
	}
	refuses("before any start")
	s.Trials = 2
	trial, err := s.BeginTrial(t.Context(), manifest, time.Now())
	check(t, err)
	_, err = s.EndTrial(t.Context(), trial, slot.Unconfirmed)
	check(t, err)
	refuses("after it has failed")
	trial, err = s.BeginTrial(t.Context(), manifest, time.Now())
	check(t, err)
	for range 2 {
		confirmed, err := s.Confirm(t.Context())
		if err != nil || !confirmed.Confirmed || confirmed.SHA256 != manifest.SHA256 {
			t.Errorf("%+v, %v", confirmed, err)
		}
	}
	if ended, err := s.EndTrial(t.Context(), trial, slot.Unconfirmed); err != nil || !ended.Confirmed || ended.Running() {
		t.Errorf("%+v, %v", ended, err)
	}
}

// TestATrialWhoseWatcherIsGoneIsOver: its process was killed, or it was another boot's with the same ID.
func TestATrialWhoseWatcherIsGoneIsOver(t *testing.T) {
	s, manifest := onTrial(t)
	_, err := s.BeginTrial(t.Context(), manifest, time.Now())
	check(t, err)
	path := s.Staged + ".trial"
	raw, err := os.ReadFile(path)
	check(t, err)
	own := fmt.Sprintf(`"process":%d`, os.Getpid())
	for name, other := range map[string]string{
		"no process has the ID":      strings.Replace(string(raw), own, `"process":999999999`, 1),
		"another process has the ID": strings.Replace(string(raw), `"since":`, `"since":1`, 1),
		"it has none":                strings.Replace(string(raw), own, `"process":0`, 1),
	} {
		check(t, os.WriteFile(path, []byte(other), 0o644))
		if _, err := s.Confirm(t.Context()); !errors.Is(err, slot.ErrNoTrial) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAStartThatCannotBeCountedIsNotMade: after an error nothing may be started.
func TestAStartThatCannotBeCountedIsNotMade(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, s *slot.Slot){
		"the record is cut off":  func(t *testing.T, s *slot.Slot) { write(".trial", []byte("{"))(t, *s) },
		"the record is of later": func(t *testing.T, s *slot.Slot) { write(".trial", []byte(`{"schemaVersion":2,"sha256":"a"}`))(t, *s) },
		"the record counts below 0": func(t *testing.T, s *slot.Slot) {
			write(".trial", []byte(`{"schemaVersion":1,"sha256":"a","trials":-1}`))(t, *s)
		},
		"the record is huge":     func(t *testing.T, s *slot.Slot) { write(".trial", make([]byte, 1<<20))(t, *s) },
		"the record is a folder": func(t *testing.T, s *slot.Slot) { check(t, os.Mkdir(s.Staged+".trial", 0o755)) },
		"the disk doesn't keep it": func(_ *testing.T, s *slot.Slot) {
			s.Trace.Sync = func(*os.File) error { return syscall.EIO }
		},
		"the folder is gone": func(t *testing.T, s *slot.Slot) { s.Staged = filepath.Join(t.TempDir(), "none/node") },
	} {
		t.Run(name, func(t *testing.T) {
			s, manifest := onTrial(t)
			spoil(t, &s)
			if trial, err := s.BeginTrial(t.Context(), manifest, time.Now()); err == nil {
				t.Errorf("it was counted: %+v", trial)
			}
		})
	}
}

// TestASpoiltRecordDoesNotOutliveItsProgram: the next one that is staged can be started.
func TestASpoiltRecordDoesNotOutliveItsProgram(t *testing.T) {
	s, _ := onTrial(t)
	write(".trial", []byte("{"))(t, s)
	expectChoice(t, s, target, slot.Unreadable)
	next, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.3"}), "202604.01.3")
	check(t, err)
	_, err = s.BeginTrial(t.Context(), next, time.Now())
	check(t, err)
	// A good one stays: the program that is staged again is known.
	check(t, os.Remove(s.Staged))
	_, err = stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.3"}), "202604.01.3")
	check(t, err)
	expectChoice(t, s, "202604.01.3", slot.TrialsUsed)
}

// TestACountedStartOutlivesAPowerCut: what was begun is known, whatever the disk has not been told to keep.
func TestACountedStartOutlivesAPowerCut(t *testing.T) {
	s, manifest := onTrial(t)
	power := hotfixtest.RecordPower(t, filepath.Dir(s.Staged))
	s.Trace = power.Trace()
	trial, err := s.BeginTrial(t.Context(), manifest, time.Now())
	check(t, err)
	begun := len(power.Cuts())
	_, err = s.EndTrial(t.Context(), trial, slot.Confirmed)
	check(t, err)
	for i, cut := range power.Cuts() {
		after := slot.Slot{Baked: s.Baked, Staged: filepath.Join(t.TempDir(), "node-hotfix")}
		cut.Restore(t, filepath.Dir(after.Staged))
		found, err := after.ReadTrial()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", cut.At, err)
		}
		if i >= begun && found.Trials == 0 && !found.Confirmed {
			t.Errorf("%s: the start was counted, and the record is %+v", cut.At, found)
		}
	}
}

// TestTwoStartsAreTwo: processes that count at once wait for each other.
func TestTwoStartsAreTwo(t *testing.T) {
	s, manifest := onTrial(t)
	s.Trials = 5
	var all sync.WaitGroup
	var begun atomic.Int32
	for range 12 {
		all.Go(func() {
			if _, err := s.BeginTrial(t.Context(), manifest, time.Now()); err == nil {
				begun.Add(1)
			} else if !errors.Is(err, slot.ErrTrialsUsed) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if trial, err := s.ReadTrial(); err != nil || trial.Trials != 5 || begun.Load() != 5 {
		t.Errorf("%d were begun, the record is %+v, %v", begun.Load(), trial, err)
	}
}

// TestAnOldPointerTakesNoNodeBack, unless the owner of the fleet has signed it.
func TestAnOldPointerTakesNoNodeBack(t *testing.T) {
	const older = "202604.01.1"
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: older})
	s, _ := onTrial(t)
	expectChoice(t, s, older, slot.Older)
	if _, err := s.Current(version(t, older)); !errors.Is(err, slot.ErrOlder) {
		t.Errorf("it would be fetched: %v", err)
	}
	if _, err := stage(t, s, image, older); !errors.Is(err, slot.ErrOlder) {
		t.Errorf("it was staged: %v", err)
	}
	expectChoice(t, s, target, slot.Staged)
	s.Signed = true
	expectChoice(t, s, older, slot.OtherTarget)
	_, err := stage(t, s, image, older)
	check(t, err)
	expectChoice(t, s, older, slot.Staged)
}
