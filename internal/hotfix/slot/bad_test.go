//go:build linux

package slot_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// TestAMarkOutlivesAPowerCut: once marking has ended, whatever the disk has not been told to keep may be gone.
func TestAMarkOutlivesAPowerCut(t *testing.T) {
	s := newSlot(t)
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	manifest, err := stage(t, s, image, target)
	check(t, err)
	power := hotfixtest.RecordPower(t, filepath.Dir(s.Staged))
	s.Trace = power.Trace()
	check(t, s.MarkBad(manifest.SHA256))
	atTheEnd := 0
	for _, cut := range power.Cuts() {
		after := slot.Slot{Baked: s.Baked, Staged: filepath.Join(t.TempDir(), "node-hotfix")}
		cut.Restore(t, filepath.Dir(after.Staged))
		choice := after.Choose(decide(target))
		if choice.Reason != slot.MarkedBad && choice.Reason != slot.Staged {
			t.Errorf("%s: %s (%v)", cut.At, choice.Reason, choice.Err)
		}
		if strings.Contains(cut.At, "the end") {
			atTheEnd++
			if choice.Reason != slot.MarkedBad {
				t.Errorf("%s: it was marked bad, and is %s", cut.At, choice.Reason)
			}
		}
	}
	if atTheEnd == 0 {
		t.Error("the power was not cut at the end")
	}
}

// TestAMarkThatCannotBeWrittenIsAnError, for the next boot would start the program again.
func TestAMarkThatCannotBeWrittenIsAnError(t *testing.T) {
	digest := strings.Repeat("0", 64)
	for name, row := range map[string]struct {
		spoil  func(t *testing.T, s *slot.Slot)
		digest string
		want   error
	}{
		"the folder is gone": {func(t *testing.T, s *slot.Slot) { s.Staged = filepath.Join(t.TempDir(), "none/node") },
			digest, fs.ErrNotExist},
		"a file has the place of the marks": {func(t *testing.T, s *slot.Slot) { write(".bad", nil)(t, *s) },
			digest, syscall.ENOTDIR},
		"a link has the place of the marks": {func(t *testing.T, s *slot.Slot) {
			check(t, os.Symlink(t.TempDir(), s.Staged+".bad"))
		}, digest, syscall.ENOTDIR},
		"the folder of the marks can't be flushed": {func(_ *testing.T, s *slot.Slot) {
			s.Trace.Sync = func(*os.File) error { return syscall.EIO }
		}, digest, syscall.EIO},
		"the mark can't be flushed": {func(_ *testing.T, s *slot.Slot) { s.Trace.Sync = noFile }, digest, syscall.EIO},
		"the mark's name is too long": {func(*testing.T, *slot.Slot) {}, strings.Repeat("0", 300),
			syscall.ENAMETOOLONG},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			row.spoil(t, &s)
			if err := s.MarkBad(row.digest); !errors.Is(err, row.want) {
				t.Errorf("marking gave %v, want %v", err, row.want)
			}
		})
	}
}

// noFile is a disk that keeps names and loses contents.
func noFile(file *os.File) error {
	if info, err := file.Stat(); err != nil || info.Mode().IsRegular() {
		return errors.Join(err, syscall.EIO)
	}
	return nil
}
