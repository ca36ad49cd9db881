//go:build unix

package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/hotfix/disk"
)

func TestAFileIsReplacedWhole(t *testing.T) {
	t.Run("with exactly the mode that is asked for, whatever the umask", func(t *testing.T) {
		previous := syscall.Umask(0o077)
		defer syscall.Umask(previous)
		dir, folder := open(t)
		check(t, folder.Replace("unit", strings.NewReader("new"), 0o666))
		expect(t, filepath.Join(dir, "unit"), "new", 0o666)
	})
	t.Run("over an older one, and over the leftover of a killed writer", func(t *testing.T) {
		dir, folder := open(t)
		check(t, os.WriteFile(filepath.Join(dir, "unit"), []byte("old"), 0o600))
		check(t, os.WriteFile(filepath.Join(dir, disk.Part("unit")), []byte("half"), 0o600))
		check(t, folder.Replace("unit", strings.NewReader("new"), 0o644))
		expect(t, filepath.Join(dir, "unit"), "new", 0o644)
		expectNames(t, folder, "unit")
	})
	t.Run("not when its content can't be read to the end", func(t *testing.T) {
		dir, folder := open(t)
		check(t, os.WriteFile(filepath.Join(dir, "unit"), []byte("old"), 0o600))
		if err := folder.Replace("unit", cutOff{strings.NewReader("ne")}, 0o644); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		expect(t, filepath.Join(dir, "unit"), "old", 0o600)
		expectNames(t, folder, "unit")
	})
}

// TestEffectsAreInOrder is the order that survives a power cut: the contents are
// on the disk before the name is, and the name before anything that follows.
func TestEffectsAreInOrder(t *testing.T) {
	var effects []string
	folder, err := disk.Open(t.TempDir(), disk.Trace{
		Before: func(effect, name string) { effects = append(effects, effect+" "+name) },
		Sync:   func(*os.File) error { effects = append(effects, "synced"); return nil },
	})
	check(t, err)
	defer folder.Close()
	check(t, folder.Replace("a", strings.NewReader("text"), 0o644))
	check(t, folder.Remove("a"))
	want := "create .a.part, write .a.part, mode .a.part, sync .a.part, synced, rename a, sync folder of a, synced, " +
		"remove a, sync folder of a, synced"
	if got := strings.Join(effects, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNoLinkIsEntered(t *testing.T) {
	dir, folder := open(t)
	check(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	check(t, os.Symlink("real", filepath.Join(dir, "link")))
	check(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for name, want := range map[string]error{"link": syscall.ENOTDIR, "file": syscall.ENOTDIR, "none": fs.ErrNotExist} {
		if _, err := folder.Enter(name); !errors.Is(err, want) {
			t.Errorf("entering %s: %v", name, err)
		}
	}
	inner, err := folder.Enter("real")
	check(t, err)
	inner.Close()
}

// TestAFolderStaysItself: whoever moves the folder away and puts a link in its
// place does not get what is written.
func TestAFolderStaysItself(t *testing.T) {
	dir, folder := open(t)
	elsewhere := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	inner, err := folder.Enter("real")
	check(t, err)
	defer inner.Close()
	check(t, os.Rename(filepath.Join(dir, "real"), filepath.Join(dir, "moved")))
	check(t, os.Symlink(elsewhere, filepath.Join(dir, "real")))
	check(t, inner.Replace("unit", strings.NewReader("new"), 0o644))
	expect(t, filepath.Join(dir, "moved", "unit"), "new", 0o644)
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("the link's target got %v (%v)", entries, err)
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir, folder := open(t)
	check(t, os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o600))
	check(t, os.Symlink("file", filepath.Join(dir, "link")))
	check(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)) // reading it would never end
	check(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for _, name := range []string{"pipe", "folder", "link", "none"} {
		if raw, err := folder.Read(name, 100); err == nil {
			t.Errorf("%s was read: %q", name, raw)
		}
	}
	if _, err := folder.Read("file", 4); err == nil {
		t.Error("a file that is too large was read")
	}
	if raw, err := folder.Read("file", 5); err != nil || string(raw) != "12345" {
		t.Errorf("%q, %v", raw, err)
	}
}

func TestRemovingTwice(t *testing.T) {
	_, folder := open(t)
	check(t, folder.Replace("unit", strings.NewReader("new"), 0o644))
	check(t, folder.Remove("unit"))
	check(t, folder.Remove("unit"))
	expectNames(t, folder)
}

type cutOff struct{ text *strings.Reader }

func (c cutOff) Read(p []byte) (int, error) {
	if n, err := c.text.Read(p); err == nil {
		return n, nil
	}
	return 0, syscall.EIO
}

func open(t *testing.T) (string, *disk.Folder) {
	t.Helper()
	dir := t.TempDir()
	folder, err := disk.Open(dir, disk.Trace{})
	check(t, err)
	t.Cleanup(folder.Close)
	return dir, folder
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	raw, err := os.ReadFile(path)
	check(t, err)
	info, err := os.Stat(path)
	check(t, err)
	if string(raw) != content || info.Mode() != mode {
		t.Errorf("%s holds %q, mode %s", path, raw, info.Mode())
	}
}

func expectNames(t *testing.T, folder *disk.Folder, want ...string) {
	t.Helper()
	got, err := folder.Names()
	check(t, err)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
}
