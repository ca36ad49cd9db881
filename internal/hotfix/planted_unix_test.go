//go:build unix

package hotfix_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"salve/internal/hotfix"
)

// TestWhatIsNoPointerFile: none of these may be waited for or read without end.
func TestWhatIsNoPointerFile(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	check(t, syscall.Mkfifo(pipe, 0o600))
	check(t, os.WriteFile(filepath.Join(folder, "file"), []byte(`{"version": "202604.01.2"}`), 0o600))
	check(t, os.Symlink("file", filepath.Join(folder, "link")))
	check(t, os.Symlink("nowhere", filepath.Join(folder, "dangling")))
	check(t, os.Symlink("circle", filepath.Join(folder, "circle")))
	for name, want := range map[string]hotfix.Reason{
		"none": hotfix.ReasonNoPointer, "none/below": hotfix.ReasonNoPointer, "dangling": hotfix.ReasonNoPointer,
		"pipe": hotfix.ReasonUnreadablePointer, ".": hotfix.ReasonUnreadablePointer, "circle": hotfix.ReasonUnreadablePointer,
		"../../../../../../../dev/zero": hotfix.ReasonUnreadablePointer, "file/below": hotfix.ReasonUnreadablePointer,
		"link": hotfix.ReasonInstall, "file": hotfix.ReasonInstall,
	} {
		if got := hotfix.DecideByFile("202604.01.1", filepath.Join(folder, name)).Reason; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
