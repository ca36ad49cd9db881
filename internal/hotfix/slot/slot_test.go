//go:build linux

package slot_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

func TestTwoDoNotStageAtOnce(t *testing.T) {
	s := newSlot(t)
	release, err := s.Lock(t.Context())
	check(t, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Lock(short); !errors.Is(err, slot.ErrBusy) {
		t.Errorf("the second one got %v", err)
	}
	release()
	again, err := s.Lock(t.Context())
	check(t, err)
	again()
}

func TestLeftoversAreCleared(t *testing.T) {
	s := newSlot(t)
	folder := filepath.Dir(s.Staged)
	check(t, os.WriteFile(filepath.Join(folder, disk.Part("node-hotfix")), []byte("half"), 0o600))
	check(t, os.WriteFile(filepath.Join(folder, disk.Part("node-hotfix.manifest")), []byte("{"), 0o600))
	scratch, _, err := s.Scratch()
	check(t, err)
	check(t, os.WriteFile(filepath.Join(scratch, "package.deb"), nil, 0o600))
	check(t, s.Tidy())
	expectNames(t, s, "node")
}

// TestAScratchFolderIsEmpty, whatever a killed process left in it, and gone afterwards.
func TestAScratchFolderIsEmpty(t *testing.T) {
	s := newSlot(t)
	left, _, err := s.Scratch()
	check(t, err)
	check(t, os.MkdirAll(filepath.Join(left, "unpacked/usr"), 0o700))
	check(t, os.WriteFile(filepath.Join(left, "unpacked/usr/node"), []byte("half"), 0o600))
	scratch, remove, err := s.Scratch()
	check(t, err)
	if entries, err := os.ReadDir(scratch); err != nil || len(entries) > 0 {
		t.Errorf("it holds %v, %v", entries, err)
	}
	if info, err := os.Stat(scratch); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("others can enter it: %v, %v", info, err)
	}
	check(t, os.WriteFile(filepath.Join(scratch, "package.deb"), nil, 0o600))
	remove()
	expectNames(t, s, "node")
}

// TestAFolderThatRefuses: nothing can be locked, fetched, staged or tidied up there, and the error says why.
func TestAFolderThatRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		place func(t *testing.T) string
		want  string
	}{
		"it is not there": {func(t *testing.T) string { return filepath.Join(t.TempDir(), "none") }, "no such file"},
		"it is a file": {func(t *testing.T) string {
			return hotfixtest.Write(t, filepath.Join(t.TempDir(), "file"), nil)
		}, "not a directory"},
		"it is a link to itself": {func(t *testing.T) string {
			link := filepath.Join(t.TempDir(), "link")
			check(t, os.Symlink(link, link))
			return link
		}, "too many"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			s.Staged = filepath.Join(row.place(t), "node-hotfix")
			_, locking := s.Lock(t.Context())
			_, _, scratching := s.Scratch()
			_, staging := s.Stage(t.Context(), slot.Candidate{Path: s.Baked, Target: version(t, target)})
			for what, err := range map[string]error{"locking": locking, "a scratch folder": scratching,
				"tidying up": s.Tidy(), "staging": staging, "marking": s.MarkBad(strings.Repeat("0", 64))} {
				if err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("%s gave %v, want %q", what, err, row.want)
				}
			}
		})
	}
}

func TestAScratchFolderThatCannotBeMadeIsAnError(t *testing.T) {
	t.Run("the disk does not keep its name", func(t *testing.T) {
		s := newSlot(t)
		s.Trace.Sync = func(*os.File) error { return syscall.EIO }
		if path, _, err := s.Scratch(); !errors.Is(err, syscall.EIO) {
			t.Errorf("got %q, %v", path, err)
		}
	})
	t.Run("the one before can't be cleared", func(t *testing.T) {
		s := newSlot(t)
		left, _, err := s.Scratch()
		check(t, err)
		check(t, os.WriteFile(filepath.Join(left, "package.deb"), nil, 0o600))
		check(t, errors.Join(os.Chmod(left, 0o500), os.Chmod(filepath.Dir(s.Staged), 0o777)))
		asNobody(t, func() {
			if path, _, err := s.Scratch(); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("got %q, %v", path, err)
			}
		})
		check(t, os.Chmod(left, 0o700))
	})
}

// asNobody does something without root's right to read and write everything.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		check(t, os.Chmod(filepath.Dir(t.TempDir()), 0o755)) // each test has one folder around all of its own
		runtime.LockOSThread()                               // the file system's user is the thread's
		defer runtime.UnlockOSThread()
		check(t, syscall.Setfsuid(65534))
		defer func() { check(t, syscall.Setfsuid(0)) }()
	}
	do()
}

// TestNoFileStaysOpen, so that the disk can be unmounted while the program goes on.
func TestNoFileStaysOpen(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close what was forgotten, some time
	s := newSlot(t)
	candidate := hotfixtest.Write(t, filepath.Join(filepath.Dir(s.Staged), "candidate"),
		hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}))
	manifest, err := stageFile(t, s, candidate, target)
	check(t, err)
	expectChoice(t, s, target, slot.Staged)
	_, remove, err := s.Scratch()
	check(t, err)
	remove()
	check(t, s.MarkBad(manifest.SHA256))
	check(t, s.Tidy())
	if open := openBelow(t, filepath.Dir(s.Staged)); len(open) > 0 {
		t.Errorf("still open: %v", open)
	}
}

// openBelow lists the files of a folder, and itself, that this process holds open.
func openBelow(t *testing.T, folder string) []string {
	t.Helper()
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	check(t, err)
	var below []string
	for _, one := range descriptors {
		if path, err := os.Readlink(one); err == nil && strings.HasPrefix(path, folder) {
			below = append(below, path)
		}
	}
	return below
}
