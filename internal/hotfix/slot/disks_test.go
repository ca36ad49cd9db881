//go:build linux

package slot_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestDisksThatRefuse: the error says what it is, and the baked program is chosen.
func TestDisksThatRefuse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a disk takes root")
	}
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	t.Run("full", func(t *testing.T) {
		s := newSlot(t)
		s.Staged = filepath.Join(mount(t, "size=1m"), "node-hotfix")
		if _, err := stage(t, s, image, target); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("staging gave %v", err)
		}
		expectChoice(t, s, target, slot.NotStaged)
		check(t, s.Tidy())
		expectNames(t, s, "node-hotfix.lock")
	})
	t.Run("full but for the manifest", func(t *testing.T) {
		s := newSlot(t)
		disk := mount(t, "size=16m,nr_inodes=4") // the folder, the lock, the program: one is left
		s.Staged = filepath.Join(disk, "node-hotfix")
		check(t, os.WriteFile(filepath.Join(disk, "another"), nil, 0o600))
		if _, err := stage(t, s, image, target); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("staging gave %v", err)
		}
		expectChoice(t, s, target, slot.NotStaged)
	})
	t.Run("read-only", func(t *testing.T) {
		s := newSlot(t)
		disk := mount(t, "size=16m")
		s.Staged = filepath.Join(disk, "node-hotfix")
		_, err := stage(t, s, image, target)
		check(t, err)
		check(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		expectChoice(t, s, target, slot.Staged) // it takes nothing but reading
		if _, err := stage(t, s, image, "202604.01.3"); !errors.Is(err, syscall.EROFS) {
			t.Fatalf("staging gave %v", err)
		}
		if err := s.MarkBad(strings.Repeat("0", 64)); !errors.Is(err, syscall.EROFS) {
			t.Errorf("marking gave %v", err)
		}
	})
	t.Run("that executes nothing", func(t *testing.T) {
		s := newSlot(t)
		disk := mount(t, "size=16m")
		s.Staged = filepath.Join(disk, "node-hotfix")
		check(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_NOEXEC, ""))
		var unfit *slot.UnfitError
		if _, err := stage(t, s, image, target); !errors.As(err, &unfit) {
			t.Fatalf("staging gave %v", err)
		}
	})
}

func mount(t *testing.T, options string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, options); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(disk, 0)) })
	return disk
}
