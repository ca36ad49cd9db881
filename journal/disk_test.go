package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFolderTellsWhatIsNotThere: in a folder without anything, and where there is no
// folder at all.
func TestFolderTellsWhatIsNotThere(t *testing.T) {
	for where, in := range map[string]folder{
		"an empty folder": folder(t.TempDir()),
		"no folder":       folder(filepath.Join(t.TempDir(), "absent")),
	} {
		for name, do := range map[string]func() error{
			"mkdir":   func() error { return in.Mkdir("absent/x") },
			"rename":  func() error { return in.Rename("absent", "x") },
			"link":    func() error { return in.Link("absent", "x") },
			"remove":  func() error { return in.Remove("absent") },
			"syncdir": func() error { return in.SyncDir("absent") },
			"lstat": func() error {
				_, err := in.Lstat("absent")
				return err
			},
			"readdir": func() error {
				_, err := in.ReadDir("absent")
				return err
			},
			"read": func() error {
				_, err := in.Open("absent", reading)
				return err
			},
			"write": func() error {
				_, err := in.Open("absent", writing)
				return err
			},
			"create": func() error {
				_, err := in.Open("absent/x", creating)
				return err
			},
			"lock": func() error {
				_, _, err := in.Lock("absent/x")
				return err
			},
		} {
			if err := do(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s: %v", where, name, err)
			}
		}
	}
}

// TestFolderNeverLeavesItself: not by a name, and not by a link in it.
func TestFolderNeverLeavesItself(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("others'"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	in := folder(dir)
	for _, to := range []string{"link", "../" + filepath.Base(outside)} {
		for name, do := range map[string]func() error{
			"mkdir":     func() error { return in.Mkdir(to + "/x") },
			"rename":    func() error { return in.Rename(to+"/file", "x") },
			"link":      func() error { return in.Link(to+"/file", "x") },
			"remove":    func() error { return in.Remove(to + "/file") },
			"removeall": func() error { return in.RemoveAll(to + "/file") },
			"syncdir":   func() error { return in.SyncDir(to) },
			"readdir": func() error {
				_, err := in.ReadDir(to)
				return err
			},
			"read": func() error {
				_, err := in.Open(to+"/file", reading)
				return err
			},
			"create": func() error {
				_, err := in.Open(to+"/x", creating)
				return err
			},
			"lock": func() error {
				_, _, err := in.Lock(to + "/file")
				return err
			},
		} {
			if err := do(); err == nil {
				t.Errorf("%s of what is in %s: no error", name, to)
			}
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there is now %v, %v", entries, err)
	}
}

// TestOnlyRegularFilesAreOpened: what somebody put in a file's place is not waited
// for, not followed and not written to.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	in := folder(dir)
	for name, plant := range map[string]func(path string) error{
		"a folder":      func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":        func(path string) error { return os.Symlink("file", path) },
		"a pipe":        func(path string) error { return MakePipe(path) },
		"a second name": func(path string) error { return os.Link(filepath.Join(dir, "file"), path) },
	} {
		file := filepath.Join(dir, "file")
		at := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), plant(at)); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []openMode{reading, writing, creating} {
			opened, err := in.Open(filepath.Base(at), mode)
			if err == nil {
				_ = opened.Close()
			}
			if mayBeRead := name == "a second name" && mode == reading; (err == nil) != mayBeRead {
				t.Errorf("%s, opened for %d: %v", name, mode, err)
			}
		}
		if release, ours, err := in.Lock(filepath.Base(at)); err == nil {
			t.Errorf("%s was locked: %v", name, ours)
			_ = release()
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
}

// swapping is a folder in which something happens between looking at a file and
// opening it.
type swapping struct {
	*os.Root
	meanwhile func() error
}

func (s *swapping) OpenFile(name string, flags int, mode fs.FileMode) (*os.File, error) {
	if err := s.meanwhile(); err != nil {
		return nil, err
	}
	return s.Root.OpenFile(name, flags, mode)
}

// TestFileThatIsSwappedIsNotOpened: what took its place after it was looked at.
func TestFileThatIsSwappedIsNotOpened(t *testing.T) {
	refusal := errors.New("refused")
	for name, row := range map[string]struct {
		swap func(path func(string) string) error
		want string
	}{
		"a link": {func(path func(string) string) error { return os.Symlink("others", path("next")) },
			"took its place"},
		"another file": {func(path func(string) string) error { return os.WriteFile(path("next"), nil, 0o600) },
			"took its place"},
		"a refusal": {func(func(string) string) error { return refusal }, "refused"},
	} {
		dir := t.TempDir()
		path := func(name string) string { return filepath.Join(dir, name) }
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"file", "others"} {
			if err := os.WriteFile(path(file), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := openFiles(t)
		swapped := &swapping{root, func() error {
			if err := row.swap(path); err != nil {
				return err
			}
			return os.Rename(path("next"), path("file"))
		}}
		if file, err := openRegular(swapped, "file", reading); err == nil || file != nil ||
			!strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("%s: %d files are open, %d before", name, after, before)
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLockThatCannotBeHadIsNobodys: a file system that knows no locks is not one on
// which all is ours.
func TestLockThatCannotBeHadIsNobodys(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	before := openFiles(t)
	release, ours, err := lockIn(root, "lock", func(*os.File) (bool, error) { return false, syscall.ENOLCK })
	if release != nil || ours || !errors.Is(err, syscall.ENOLCK) {
		t.Errorf("%v, %v", ours, err)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d before", after, before)
	}
}

// TestSizeOfAFileThatIsClosed: no size is no zero.
func TestSizeOfAFileThatIsClosed(t *testing.T) {
	file, err := folder(t.TempDir()).Open("file", creating)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if size, err := file.Size(); err == nil {
		t.Errorf("it is %d", size)
	}
}

// TestWorkingFolderThatIsGone: what is relative to it can't be made.
func TestWorkingFolderThatIsGone(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	err := makeFolders("state", func(string, fs.FileMode) error { return nil }, func(string) error { return nil })
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if got := NewFile("state").Location(); !strings.Contains(got, "folder state on host ") {
		t.Errorf("its location is %q", got)
	}
}

// TestLockIsOneProcessesAlone: whoever asks for it meanwhile is told, at once.
func TestLockIsOneProcessesAlone(t *testing.T) {
	in := folder(t.TempDir())
	release, ours, err := in.Lock("lock")
	if err != nil || !ours {
		t.Fatal(ours, err)
	}
	before := openFiles(t)
	for range 3 {
		if _, ours, err := in.Lock("lock"); ours || err != nil {
			t.Errorf("a second time: %v, %v", ours, err)
		}
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files are open, %d before", after, before)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, ours, err := in.Lock("lock"); !ours || err != nil {
		t.Errorf("after it was released: %v, %v", ours, err)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	return len(entries)
}

// TestFilesAndFoldersAreTheirOwnersAlone: whatever the umask lets through.
func TestFilesAndFoldersAreTheirOwnersAlone(t *testing.T) {
	defer umask(0)()
	dir := filepath.Join(t.TempDir(), "state", "journal")
	store := NewFile(dir)
	record := recordOn(t, store)
	if err := record.PutExport(t.Context(), "bundle", []byte("x")); err != nil {
		t.Fatal(err)
	}
	count := 0
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		count++
		return err
	})
	if err != nil || count < 10 {
		t.Errorf("%d files and folders, %v", count, err)
	}
}

// TestBoundedReading: as much as the limit, and no more.
func TestBoundedReading(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := readBounded(folder(dir), "file", 5); err != nil || string(raw) != "12345" {
		t.Errorf("%q, %v", raw, err)
	}
	if raw, err := readBounded(folder(dir), "file", 4); err == nil || raw != nil {
		t.Errorf("above the limit: %q", raw)
	}
}

// TestFoldersThatCannotBeMade: the error of each level is told.
func TestFoldersThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"file/x", "file/x/y/z"} {
		if err := folder(filepath.Join(dir, path)).Make(); err == nil {
			t.Errorf("%s was made in a file", path)
		}
	}
	if err := syncFolder(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there was synced: %v", err)
	}
	there := folder(dir)
	if err := there.Make(); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	refusal := errors.New("refused")
	for _, refused := range []string{"/home/state", "/home/state/salve"} {
		made := map[string]bool{"/home": true}
		mkdir := func(name string, _ fs.FileMode) error {
			switch {
			case !made[filepath.Dir(name)]:
				return fs.ErrNotExist
			case name == refused:
				return refusal
			}
			made[name] = true
			return nil
		}
		if err := makeFolders("/home/state/salve", mkdir, func(string) error { return nil }); !errors.Is(err, refusal) {
			t.Errorf("%s can't be made: %v", refused, err)
		}
	}
	mkdir := func(string, fs.FileMode) error { return nil }
	if err := makeFolders("/home", mkdir, func(string) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("its name can't be synced: %v", err)
	}
}

// recordOn makes a record in a store, under a lease.
func recordOn(t *testing.T, store Store) *Record {
	t.Helper()
	lease, err := store.Lock(t.Context(), Claim{Target: "lamp/1", Holder: Holder{Run: "run-1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Release(t.Context()) })
	header := Header{Run: "run-1", Runbook: "mend"}
	header.Target.ID = "lamp/1"
	record, err := Create(t.Context(), store, lease, noon, header)
	if err != nil {
		t.Fatal(err)
	}
	return record
}
