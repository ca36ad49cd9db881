//go:build linux

package slot_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// The marks of a life: how often the program was started by then, and what was said of it since.
const (
	confirming = 100 // its confirmation is being written
	confirmed  = 200 // it is written
	condemning = 300 // it has died since, and is being marked bad
	condemned  = 400
)

// TestPowerCutFromStagingToItsEnd cuts the power at every point of a hotfix's whole life: staged, selected, its trial
// counted, started, the machine gone down under it as often as is allowed, confirmed, and marked bad. Whatever the disk
// took, the machine then runs the baked program or the whole staged one, and boots that go down again and again never
// start it more often than it may be.
func TestPowerCutFromStagingToItsEnd(t *testing.T) {
	for _, limit := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d trials", limit), func(t *testing.T) {
			s := newSlot(t)
			s.Trials = limit
			power := hotfixtest.RecordPower(t, filepath.Dir(s.Staged))
			s.Trace = power.Trace()
			live(t, s, power)
			after := map[string]int{}
			for _, cut := range power.Cuts() {
				after[afterACut(t, cut, limit)]++
			}
			for _, end := range []string{"baked", "tried", "confirmed", "marked bad"} {
				if after[end] < 3 {
					t.Errorf("the cuts were not all over the place: %v", after)
				}
			}
		})
	}
}

// live is the life of a hotfix whose machine goes down under it but for the last start.
func live(t *testing.T, s slot.Slot, power *hotfixtest.Power) {
	t.Helper()
	_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
	check(t, err)
	for start := 1; ; start++ {
		choice := s.Choose(decide(target))
		trial, err := s.BeginTrial(t.Context(), choice.Manifest, time.Now())
		check(t, err)
		power.Mark(start, "started")
		if start < s.Trials {
			continue // and nobody writes anything down
		}
		power.Mark(confirming, "confirming")
		_, err = s.Confirm(t.Context())
		check(t, err)
		power.Mark(confirmed, "confirmed")
		_, err = s.EndTrial(t.Context(), trial, slot.Unconfirmed)
		check(t, err)
		power.Mark(condemning, "died")
		check(t, s.MarkBad(choice.Manifest.SHA256))
		power.Mark(condemned, "marked")
		return
	}
}

// afterACut boots a machine again and again, and lets it go down each time. It tells what that came to.
func afterACut(t *testing.T, cut hotfixtest.Cut, limit int) string {
	t.Helper()
	folder := t.TempDir()
	cut.Restore(t, folder)
	s := slot.Slot{Baked: filepath.Join(folder, "node"), Staged: filepath.Join(folder, "node-hotfix"), Trials: limit}
	starts := min(cut.Mark, limit)
	for boot := 1; ; boot++ {
		choice := s.Choose(decide(target))
		if !choice.Staged() {
			expectSays(t, cut.At, choice.Path, current)
			return endedBy(t, cut, choice, starts)
		}
		expectSays(t, cut.At, choice.Path, target)
		trial, err := s.BeginTrial(t.Context(), choice.Manifest, time.Now())
		switch {
		case errors.Is(err, slot.ErrTrialsUsed):
			t.Errorf("%s: it is chosen, and has no trials left", cut.At)
			return ""
		case err != nil:
			t.Errorf("%s: %v", cut.At, err) // the baked program would run, though nothing is wrong with the disk
			return ""
		case trial.Confirmed:
			if cut.Mark < confirming || cut.Mark >= condemned {
				t.Errorf("%s: it is confirmed", cut.At)
			}
			return "confirmed"
		}
		if starts++; starts > limit || cut.Mark >= confirmed {
			t.Errorf("%s: started %d times of %d without a confirmation", cut.At, starts, limit)
			return ""
		}
	}
}

// endedBy says why the baked program runs, and whether it may.
func endedBy(t *testing.T, cut hotfixtest.Cut, choice slot.Choice, starts int) string {
	t.Helper()
	switch choice.Reason {
	case slot.MarkedBad:
		if cut.Mark < condemning {
			t.Errorf("%s: it is marked bad", cut.At)
		}
		return "marked bad"
	case slot.TrialsUsed: // a start that was counted and not made counts all the same
		if cut.Mark >= confirmed {
			t.Errorf("%s: its trials are used, and it was confirmed", cut.At)
		}
		return "tried"
	default: // it was not whole yet
	}
	if starts > 0 {
		t.Errorf("%s: it was started, and is not there any more: %s, %v", cut.At, choice.Reason, choice.Err)
	}
	return "baked"
}
