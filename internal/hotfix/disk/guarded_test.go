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

// nobody is a user that is neither root nor, most likely, who runs the tests.
const nobody = 65534

// TestOnlyWhatIsGuardedIsRead: each row makes one thing on the way to a file another's, or none.
func TestOnlyWhatIsGuardedIsRead(t *testing.T) {
	for name, row := range map[string]struct {
		change func(t *testing.T, dir string)
		asRoot bool
		says   string // empty when it is read
	}{
		"as it is": {change: func(*testing.T, string) {}},
		"a file that its group can write": {says: "file can be written by others (mode 0664). hint: chmod go-w",
			change: func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/a/b/file", 0o664)) }},
		"a file that all can write": {says: "can be written by others (mode 0646)",
			change: func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/a/b/file", 0o646)) }},
		"a file that all can read": {
			change: func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/a/b/file", 0o644)) }},
		"a file of another user": {asRoot: true, says: "file belongs to user 65534. hint: chown root",
			change: func(t *testing.T, dir string) { check(t, os.Chown(dir+"/a/b/file", nobody, 0)) }},
		"a file of another group that may only read it": {asRoot: true,
			change: func(t *testing.T, dir string) { check(t, os.Chown(dir+"/a/b/file", 0, nobody)) }},
		"its folder can be written by its group": {says: "/a/b can be written by others (mode 0775)",
			change: func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/a/b", 0o775)) }},
		"a folder further up can be written by all": {says: "/a can be written by others (mode 0757)",
			change: func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/a", 0o757)) }},
		"a folder further up is another's": {asRoot: true, says: "/a belongs to user 65534",
			change: func(t *testing.T, dir string) { check(t, os.Chown(dir+"/a", nobody, 0)) }},
		"a folder further up is one like /tmp": {
			change: func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/a", 0o777|fs.ModeSticky)) }},
		"one like /tmp that is another's": {asRoot: true, says: "/a belongs to user 65534",
			change: func(t *testing.T, dir string) {
				check(t, os.Chown(dir+"/a", nobody, 0))
				check(t, os.Chmod(dir+"/a", 0o777|fs.ModeSticky))
			}},
		"the file lies in one like /tmp": {says: "/a/b can be written by others",
			change: func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/a/b", 0o777|fs.ModeSticky)) }},
		"a link in its place, of our own": {change: func(t *testing.T, dir string) {
			moved(t, dir+"/a/b/file", dir+"/a/real")
			check(t, os.Symlink("../real", dir+"/a/b/file"))
		}},
		"an absolute link on the way, of our own": {change: func(t *testing.T, dir string) {
			moved(t, dir+"/a/b", dir+"/c")
			check(t, os.Symlink(dir+"/c", dir+"/a/b"))
		}},
		"a link of another user": {asRoot: true, says: "/a/b/file belongs to user 65534",
			change: func(t *testing.T, dir string) {
				moved(t, dir+"/a/b/file", dir+"/a/real")
				check(t, os.Symlink("../real", dir+"/a/b/file"))
				check(t, os.Lchown(dir+"/a/b/file", nobody, 0))
			}},
		"a link in one like /tmp": {says: "/a can be written by others", change: func(t *testing.T, dir string) {
			moved(t, dir+"/a/b", dir+"/c")
			check(t, os.Symlink("../c", dir+"/a/b"))
			check(t, os.Chmod(dir+"/a", 0o777|fs.ModeSticky))
		}},
		"a link to where others can write": {says: "/open can be written by others", change: func(t *testing.T, dir string) {
			check(t, os.Mkdir(dir+"/open", 0o700))
			moved(t, dir+"/a/b/file", dir+"/open/file")
			check(t, os.Chmod(dir+"/open", 0o777))
			check(t, os.Symlink("../../open/file", dir+"/a/b/file"))
		}},
		"a link to a file that others can write": {says: "/a/real can be written by others",
			change: func(t *testing.T, dir string) {
				moved(t, dir+"/a/b/file", dir+"/a/real")
				check(t, os.Chmod(dir+"/a/real", 0o666))
				check(t, os.Symlink("../real", dir+"/a/b/file"))
			}},
		"a link to what isn't mounted yet": {says: "/nowhere is where a symbolic link leads to, and isn't there",
			change: func(t *testing.T, dir string) {
				check(t, os.RemoveAll(dir+"/a/b"))
				check(t, os.Symlink("../nowhere", dir+"/a/b"))
			}},
		"a ring of links": {says: "too many levels of symbolic links", change: func(t *testing.T, dir string) {
			check(t, os.RemoveAll(dir+"/a/b"))
			check(t, os.Symlink("b", dir+"/a/b"))
		}},
		"a link that leads out of the root": {says: "where a symbolic link leads to", change: func(t *testing.T, dir string) {
			check(t, os.Remove(dir+"/a/b/file"))
			check(t, os.Symlink(strings.Repeat("../", 30)+"no-such-folder/file", dir+"/a/b/file"))
		}},
		"a pipe in its place": {says: "not a regular file", change: func(t *testing.T, dir string) {
			check(t, os.Remove(dir+"/a/b/file"))
			check(t, syscall.Mkfifo(dir+"/a/b/file", 0o600))
		}},
		"a folder in its place": {says: "not a regular file", change: func(t *testing.T, dir string) {
			check(t, os.Remove(dir+"/a/b/file"))
			check(t, os.Mkdir(dir+"/a/b/file", 0o700))
		}},
		"a file in place of a folder": {says: "/a/b: not a directory", change: func(t *testing.T, dir string) {
			check(t, os.RemoveAll(dir+"/a/b"))
			check(t, os.WriteFile(dir+"/a/b", nil, 0o600))
		}},
		"more than may be read": {says: "larger than 10 bytes", change: func(t *testing.T, dir string) {
			check(t, os.WriteFile(dir+"/a/b/file", []byte("12345678901"), 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if row.asRoot && os.Geteuid() != 0 {
				t.Skip("giving files away takes root")
			}
			dir := guarded(t)
			row.change(t, dir)
			raw, err := disk.ReadGuarded(dir+"/a/b/file", 10)
			switch {
			case row.says == "" && (err != nil || string(raw) != "text"):
				t.Errorf("%q, %v", raw, err)
			case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)):
				t.Errorf("%q, %v; want %q", raw, err, row.says)
			case row.says != "" && errors.Is(err, fs.ErrNotExist):
				t.Errorf("%v is taken for «there is none»", err)
			}
		})
	}
}

func TestNothingInAGuardedPlaceIsNothing(t *testing.T) {
	dir := guarded(t)
	for _, path := range []string{"/a/b/none", "/a/none/file", "/none/b/file"} {
		if _, err := disk.ReadGuarded(dir+path, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	check(t, os.Chmod(dir+"/a", 0o777))
	var unsafe *disk.UnsafeError
	if _, err := disk.ReadGuarded(dir+"/a/b/none", 10); !errors.As(err, &unsafe) {
		t.Errorf("that nothing is where others can remove it: %v", err)
	}
}

func TestOnlyAGuardedFolderIsOpened(t *testing.T) {
	dir := guarded(t)
	folder, err := disk.OpenGuarded(dir+"/a", disk.Trace{})
	check(t, err)
	expectNames(t, folder, "b")
	folder.Close()
	check(t, os.Chmod(dir+"/a/b", 0o777|fs.ModeSticky))
	var unsafe *disk.UnsafeError
	if _, err := disk.OpenGuarded(dir+"/a/b", disk.Trace{}); !errors.As(err, &unsafe) {
		t.Errorf("a folder like /tmp: %v", err)
	}
	root, err := disk.OpenGuarded("/", disk.Trace{})
	check(t, err)
	root.Close()
}

func TestALockKeepsOthersOut(t *testing.T) {
	dir, folder := open(t)
	other, err := disk.Open(dir, disk.Trace{})
	check(t, err)
	defer other.Close()
	release, locked, err := folder.TryLock()
	check(t, err)
	if !locked {
		t.Fatal("the first one is not let in")
	}
	if _, locked, err := other.TryLock(); locked || err != nil {
		t.Errorf("the second one: locked %v, %v", locked, err)
	}
	release()
	release, locked, err = other.TryLock()
	check(t, err)
	if !locked {
		t.Fatal("the lock stays")
	}
	release()
	expectNames(t, folder)
}

// guarded has a/b/file, with the text «text», in a folder of this user's.
func guarded(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check(t, os.Chmod(dir, 0o755)) // the mask may leave a group's right to write
	for _, folder := range []string{"/a", "/a/b"} {
		check(t, os.Mkdir(dir+folder, 0o755))
		check(t, os.Chmod(dir+folder, 0o755))
	}
	check(t, os.Chmod(filepath.Dir(dir), 0o755))
	check(t, os.WriteFile(dir+"/a/b/file", []byte("text"), 0o600))
	return dir
}

func moved(t *testing.T, from, to string) {
	t.Helper()
	check(t, os.Rename(from, to))
}
