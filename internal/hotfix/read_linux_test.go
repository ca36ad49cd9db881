package hotfix_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/hotfix"
)

// TestWhatIsNoFileIsNotOpened: for a device to be opened may be to do something, as for a watchdog.
func TestWhatIsNoFileIsNotOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(pipe, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(pipe, link))
	watch, err := syscall.InotifyInit1(syscall.IN_NONBLOCK)
	check(t, err)
	defer func() { check(t, syscall.Close(watch)) }()
	_, err = syscall.InotifyAddWatch(watch, pipe, syscall.IN_OPEN)
	check(t, err)
	for _, path := range []string{pipe, link} {
		if _, err := hotfix.ReadRegular(path, 100); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n, err := syscall.Read(watch, make([]byte, 4096)); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("it was opened: %d bytes of events, %v", n, err)
	}
}

// TestTheKernelsFilesAreNotWaitedFor: they are regular ones by their mode, and some give something when there is
// something to give. Whoever may write the signed pointer may make it a link to one.
func TestTheKernelsFilesAreNotWaitedFor(t *testing.T) {
	link := filepath.Join(t.TempDir(), "pointer.json")
	check(t, os.Symlink("/proc/kmsg", link))
	if _, err := os.Stat(link); err != nil {
		t.Skip("this machine has no /proc/kmsg")
	}
	if decision := hotfix.DecideByFile("202604.01.0", link); decision.Reason != hotfix.ReasonEmptyPointer {
		t.Errorf("%+v", decision)
	}
}
