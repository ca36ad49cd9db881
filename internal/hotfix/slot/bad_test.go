package slot_test

import (
	"errors"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

func TestABadProgramIsNotStagedAgain(t *testing.T) {
	s := newSlot(t)
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	manifest, err := stage(t, s, image, target)
	check(t, err)
	check(t, s.MarkBad(manifest.SHA256))
	check(t, s.MarkBad(manifest.SHA256))
	expectChoice(t, s, target, slot.MarkedBad)
	if _, err := s.Current(version(t, target)); !errors.Is(err, slot.ErrMarkedBad) {
		t.Errorf("fetching it again would not be in vain: %v", err)
	}
	if _, err := stage(t, s, image, target); !errors.Is(err, slot.ErrMarkedBad) {
		t.Errorf("staging it again: %v", err)
	}
	// A mended build of the same version, or the next version, has its chance.
	_, err = stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target, Exit: 1}), target)
	check(t, err)
	expectChoice(t, s, target, slot.Staged)
}
