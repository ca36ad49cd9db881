//go:build linux

package payload_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/payload"
)

const version = "202604.01.3"

func TestFilesAreReplaced(t *testing.T) {
	previous := syscall.Umask(0o077)
	defer syscall.Umask(previous)
	node := newNode(t)
	check(t, node.apply(version, newFiles()))
	node.expect(t, newTree)
	if status, err := node.tree.Status(version); status != payload.Applied || err != nil {
		t.Errorf("%s, %v", status, err)
	}
	if status, _ := node.tree.Status("202604.01.4"); status != payload.Absent {
		t.Errorf("another version is %s", status)
	}
}

func TestRollback(t *testing.T) {
	t.Run("puts back what was replaced, removes what was added, and remembers", func(t *testing.T) {
		node := newNode(t)
		check(t, node.apply(version, newFiles()))
		done, err := node.tree.Rollback()
		check(t, err)
		if done.Version != version || len(done.Left) > 0 {
			t.Errorf("%+v", done)
		}
		node.expect(t, oldTree)
		if status, _ := node.tree.Status(version); status != payload.RolledBack {
			t.Errorf("the version is %s", status)
		}
		if _, err := node.tree.Rollback(); !errors.Is(err, payload.ErrNothingApplied) {
			t.Errorf("again: %v", err)
		}
	})
	t.Run("of the second version gives the first one's files", func(t *testing.T) {
		node := newNode(t)
		check(t, node.apply(version, newFiles()))
		check(t, node.apply("202604.01.4",
			payload.Payload{Files: []payload.File{{Path: "/opt/azure/script.sh", Mode: 0o700, Content: []byte("newer")}}}))
		node.expectFile(t, "/opt/azure/script.sh", "newer", 0o700)
		_, err := node.tree.Rollback()
		check(t, err)
		node.expect(t, newTree)
	})
	t.Run("after it, another version has its chance", func(t *testing.T) {
		node := newNode(t)
		check(t, node.apply(version, newFiles()))
		_, err := node.tree.Rollback()
		check(t, err)
		check(t, node.apply("202604.01.4", newFiles()))
		node.expect(t, newTree)
	})
	t.Run("leaves what somebody else has changed since", func(t *testing.T) {
		node := newNode(t)
		check(t, node.apply(version, newFiles()))
		check(t, os.WriteFile(node.at("/opt/azure/script.sh"), []byte("edited"), 0o755))
		done, err := node.tree.Rollback()
		check(t, err)
		if strings.Join(done.Left, " ") != "/opt/azure/script.sh" {
			t.Errorf("left: %v", done.Left)
		}
		node.expectFile(t, "/opt/azure/script.sh", "edited", 0o755)
		node.expectFile(t, "/etc/systemd/system/node.service", "old unit", 0o644)
	})
	t.Run("with nothing to take back", func(t *testing.T) {
		if _, err := newNode(t).tree.Rollback(); !errors.Is(err, payload.ErrNothingApplied) {
			t.Error(err)
		}
	})
}

func TestOwnersAndSpecialModesComeBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving files away takes root")
	}
	node := newNode(t)
	script := node.at("/opt/azure/script.sh")
	check(t, os.Chown(script, 12, 34))
	check(t, os.Chmod(script, 0o750|fs.ModeSetgid))
	check(t, node.apply(version, newFiles()))
	expectOwner(t, script, 0, 0)
	_, err := node.tree.Rollback()
	check(t, err)
	expectOwner(t, script, 12, 34)
	node.expectFile(t, "/opt/azure/script.sh", "old script", 0o750|fs.ModeSetgid)
}

// TestAllOrNothing makes one of three files impossible; none may change.
func TestAllOrNothing(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, node node){
		"the file is a link": func(t *testing.T, n node) {
			check(t, os.Remove(n.at("/usr/local/bin/tool")))
			check(t, os.Symlink("/etc/passwd", n.at("/usr/local/bin/tool")))
		},
		"the file is a link to nowhere": func(t *testing.T, n node) {
			check(t, os.Remove(n.at("/usr/local/bin/tool")))
			check(t, os.Symlink("nowhere", n.at("/usr/local/bin/tool")))
		},
		"its folder is a link": func(t *testing.T, n node) {
			check(t, os.Rename(n.at("/usr/local/bin"), n.at("/usr/local/real")))
			check(t, os.Symlink("real", n.at("/usr/local/bin")))
		},
		"a folder far above is a link": func(t *testing.T, n node) {
			check(t, os.Rename(n.at("/usr"), n.at("/elsewhere")))
			check(t, os.Symlink("elsewhere", n.at("/usr")))
		},
		"the file is a folder": func(t *testing.T, n node) {
			check(t, os.Remove(n.at("/usr/local/bin/tool")))
			check(t, os.Mkdir(n.at("/usr/local/bin/tool"), 0o755))
		},
		"the file is a pipe": func(t *testing.T, n node) {
			check(t, os.Remove(n.at("/usr/local/bin/tool")))
			check(t, syscall.Mkfifo(n.at("/usr/local/bin/tool"), 0o600))
		},
		"its folder is a file": func(t *testing.T, n node) {
			check(t, os.RemoveAll(n.at("/usr/local/bin")))
			check(t, os.WriteFile(n.at("/usr/local/bin"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := newNode(t)
			spoil(t, node)
			before := node.list(t)
			if err := node.apply(version, newFiles()); err == nil {
				t.Fatal("it was applied")
			}
			if after := node.list(t); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
			node.expectNothingOpen(t)
		})
	}
}

// TestAnImpossibleRename: a folder appears in the place of the last file after all
// is prepared. The files that were renamed already are put back.
func TestAnImpossibleRename(t *testing.T) {
	node := newNode(t)
	node.tree.Trace.Before = func(effect, name string) {
		if effect == "rename" && name == "node.service" {
			check(t, os.Remove(node.at("/usr/local/bin/tool")))
			check(t, os.Mkdir(node.at("/usr/local/bin/tool"), 0o755))
		}
	}
	if err := node.apply(version, newFiles()); err == nil {
		t.Fatal("it was applied")
	}
	node.expectFile(t, "/opt/azure/script.sh", "old script", 0o750)
	node.expectFile(t, "/etc/systemd/system/node.service", "old unit", 0o644)
	// The folder that is in the way was not ours to check; once it is gone, the
	// next start ends what is open.
	check(t, os.Remove(node.at("/usr/local/bin/tool")))
	node.tree.Trace = disk.Trace{}
	_, err := node.tree.Recover()
	check(t, err)
	node.expect(t, oldTree)
	node.expectNothingOpen(t)
}

// TestWhatDoesNotReadAsItWasWritten is never put in place: the disk has made something else of it, or somebody has.
func TestWhatDoesNotReadAsItWasWritten(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"its content": func(path string) error { return os.WriteFile(path, []byte("worse"), 0o644) },
		"its end":     func(path string) error { return os.Truncate(path, 3) },
		"all of it":   os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			node := newNode(t)
			node.tree.Trace.Before = func(effect, name string) {
				if effect == "sync" && name == ".node.service.part" {
					check(t, spoil(node.at("/etc/systemd/system/.node.service.part")))
				}
			}
			if err := node.apply(version, newFiles()); err == nil {
				t.Error("it was applied")
			}
			node.tree.Trace = disk.Trace{}
			node.expect(t, oldTree)
			node.expectNothingOpen(t)
		})
	}
}

func TestAFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a disk takes root")
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	defer func() { check(t, syscall.Unmount(disk, 0)) }()
	node := newNodeIn(t, disk)
	files := newFiles()
	files.Files[2].Content = make([]byte, 1<<20)
	if err := node.apply(version, files); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	node.expect(t, oldTree)
	node.expectNothingOpen(t)
}

// The three files of the tests: one is replaced with another mode, one with the
// same, and one is new, in a folder that is new.
var (
	oldTree = `/etc/systemd/system/node.service -rw-r--r-- old unit
/opt/azure/script.sh -rwxr-x--- old script
/usr/local/bin/tool -rwxr-xr-x old tool
`
	newTree = `/etc/systemd/system/node.service -rw-r--r-- new unit
/opt/azure/more/deep/added -rw------- added
/opt/azure/script.sh -rwxr-xr-x new script
/usr/local/bin/tool -rwxr-xr-x new tool
`
)

func newFiles() payload.Payload {
	return payload.Payload{Files: []payload.File{
		{Path: "/opt/azure/script.sh", Mode: 0o755, Content: []byte("new script")},
		{Path: "/opt/azure/more/deep/added", Mode: 0o600, Content: []byte("added")},
		{Path: "/etc/systemd/system/node.service", Mode: 0o644, Content: []byte("new unit")},
		{Path: "/usr/local/bin/tool", Mode: 0o755, Content: []byte("new tool")},
	}}
}

// node is a file system of a node below a folder.
type node struct{ tree payload.Tree }

func newNode(t *testing.T) node {
	t.Helper()
	return newNodeIn(t, t.TempDir())
}

func newNodeIn(t *testing.T, folder string) node {
	t.Helper()
	n := node{payload.Tree{Root: filepath.Join(folder, "root"), State: filepath.Join(folder, "state")}}
	n.write(t, "/opt/azure/script.sh", "old script", 0o750)
	n.write(t, "/etc/systemd/system/node.service", "old unit", 0o644)
	n.write(t, "/usr/local/bin/tool", "old tool", 0o755)
	return n
}

func (n node) at(path string) string { return filepath.Join(n.tree.Root, path) }

func (n node) write(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(n.at(path)), 0o755))
	check(t, os.WriteFile(n.at(path), []byte(content), mode))
	check(t, os.Chmod(n.at(path), mode))
}

func (n node) apply(version string, files payload.Payload) error {
	return n.tree.Apply(background, payload.Release{Version: version, Source: "the test", Time: time.Now()}, files)
}

// list shows all that is not a folder.
func (n node) list(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	check(t, filepath.WalkDir(n.tree.Root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content := []byte("-")
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		text.WriteString(strings.TrimPrefix(path, n.tree.Root) + " " + info.Mode().String() + " " + string(content) + "\n")
		return nil
	}))
	return text.String()
}

func (n node) expect(t *testing.T, want string) {
	t.Helper()
	if got := n.list(t); got != want {
		t.Errorf("the node has\n%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat(n.at("/opt/azure/more")); want == oldTree && err == nil {
		t.Error("the folder that was made is left")
	}
}

func (n node) expectFile(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	raw, err := os.ReadFile(n.at(path))
	check(t, err)
	info, err := os.Stat(n.at(path))
	check(t, err)
	if string(raw) != content || info.Mode() != mode {
		t.Errorf("%s holds %q, mode %s", path, raw, info.Mode())
	}
}

// expectNothingOpen: no record of an open swap, no copies that nobody needs.
func (n node) expectNothingOpen(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(n.tree.State)
	check(t, err)
	for _, entry := range entries {
		t.Errorf("left in the state folder: %s", entry.Name())
	}
}

func expectOwner(t *testing.T, path string, user, group uint32) {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	if owner := info.Sys().(*syscall.Stat_t); owner.Uid != user || owner.Gid != group {
		t.Errorf("%s belongs to %d:%d", path, owner.Uid, owner.Gid)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
