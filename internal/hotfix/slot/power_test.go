//go:build linux

package slot_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix"
	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestPowerCutAnywhere cuts the power at every point between two syncs of a staging.
// Whatever is then selected runs, the baked program or the whole staged one; what was
// reported as staged is there; and the next staging is not in the way of its own
// leftovers.
func TestPowerCutAnywhere(t *testing.T) {
	for name, before := range map[string]string{"nothing was staged": "", "another hotfix was staged": "202604.01.1"} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			if before != "" {
				_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: before}), before)
				check(t, err)
			}
			power := hotfixtest.RecordPower(t, filepath.Dir(s.Staged))
			s.Trace = power.Trace()
			image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
			_, err := stage(t, s, image, target)
			check(t, err)
			selected := map[string]int{}
			for _, cut := range power.Cuts() {
				said := afterPowerCut(t, cut, image)
				selected[said]++
				if strings.Contains(cut.At, "the end") && said != target {
					t.Errorf("%s: it was staged, and %s is selected", cut.At, said)
				}
			}
			if selected[current] < 20 || selected[target] < 5 {
				t.Errorf("the cuts were not all over the place: %v", selected)
			}
		})
	}
}

// afterPowerCut tells what is selected, and stages once more.
func afterPowerCut(t *testing.T, cut hotfixtest.Cut, image []byte) (selected string) {
	t.Helper()
	folder := t.TempDir()
	cut.Restore(t, folder)
	s := slot.Slot{Baked: filepath.Join(folder, "node"), Staged: filepath.Join(folder, "node-hotfix")}
	wanted, err := hotfix.ParseVersion(target)
	check(t, err)
	whole, err := s.Current(wanted)
	check(t, err)
	selected = current
	if whole {
		selected = target
	}
	choice := s.Choose(decide(target))
	if choice.Staged() != whole {
		t.Errorf("%s: selected %s because of %s", cut.At, choice.Path, choice.Reason)
	}
	expectSays(t, cut.At, choice.Path, selected)
	if _, err := stage(t, s, image, target); err != nil {
		t.Errorf("%s: the next one does not stage: %v", cut.At, err)
		return selected
	}
	expectSays(t, cut.At+", staged again", s.Choose(decide(target)).Path, target)
	return selected
}

func expectSays(t *testing.T, when, program, version string) {
	t.Helper()
	said, err := exec.Command(program, "version").Output()
	if err != nil || strings.TrimSpace(string(said)) != version {
		t.Errorf("%s: %s says %q (%v), want %s", when, program, said, err, version)
	}
}
