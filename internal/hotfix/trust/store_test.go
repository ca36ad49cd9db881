//go:build linux

package trust_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/trust"
)

func newStore(t testing.TB) trust.Store {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	return trust.Store{Path: filepath.Join(state, "trust"), Clock: clock.Real{}}
}

// accept follows a document of a counter as a node does, and keeps what it has to.
func accept(ctx context.Context, t testing.TB, s trust.Store, counter int64) error {
	t.Helper()
	configured, err := signedRoot(t, rootOf(1), "alice", "bob").Encode()
	check(t, err)
	root, err := trust.ParseTrusted(configured)
	check(t, err)
	return s.Update(ctx, func(seen trust.Memory, keep func(trust.Memory) error) error {
		chain, err := root.Follow(seen, nil)
		if err != nil {
			return err
		}
		accepted, err := chain.Accept(signedPointer(t, document(counter), "ci"), now)
		if err != nil {
			return err
		}
		return keep(accepted.Memory)
	})
}

func TestWhatWasSeenIsRemembered(t *testing.T) {
	s := newStore(t)
	check(t, accept(t.Context(), t, s, 7))
	expectCounter(t, s, 7)
	if err := accept(t.Context(), t, s, 6); trust.ReasonOf(err) != hotfix.ReasonReplayed {
		t.Errorf("%v", err)
	}
	check(t, accept(t.Context(), t, s, 8))
	expectCounter(t, s, 8)
	for path, mode := range map[string]fs.FileMode{
		"": fs.ModeDir | 0o755, "/trust": fs.ModeDir | 0o700, "/trust/memory.json": 0o600,
	} {
		info, err := os.Stat(filepath.Dir(s.Path) + path)
		if err != nil || info.Mode() != mode {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
}

// TestAnUnchangedMemoryIsNotWritten: a boot with nothing new works on a disk that can't be written to.
func TestAnUnchangedMemoryIsNotWritten(t *testing.T) {
	s := newStore(t)
	check(t, accept(t.Context(), t, s, 7))
	effects := 0
	s.Trace = disk.Trace{Before: func(string, string) { effects++ }}
	check(t, accept(t.Context(), t, s, 7))
	if effects != 0 {
		t.Errorf("%d effects on the disk", effects)
	}
	check(t, accept(t.Context(), t, s, 8))
	if effects == 0 {
		t.Error("nothing is watched")
	}
}

// TestAMemoryThatCantBeUsed: in doubt about what was seen, nothing is followed.
func TestAMemoryThatCantBeUsed(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(t *testing.T, s trust.Store)
		says  string
	}{
		"it is torn": {spoil: changeMemory(func(raw string) string { return raw[:len(raw)/2] }),
			says: "memory.json: it is not one JSON document"},
		"it is empty":           {spoil: changeMemory(func(string) string { return "" }), says: "memory.json"},
		"it is of a later form": {spoil: changeMemory(func(raw string) string { return strings.Replace(raw, `"schemaVersion": 1`, `"schemaVersion": 2`, 1) }), says: "use a newer one"},
		"the counter is gone":   {spoil: changeMemory(func(raw string) string { return strings.Replace(raw, `"counter": 7,`, ``, 1) }), says: "one of counter and digest"},
		"a link stands for it": {says: "memory.json", spoil: func(t *testing.T, s trust.Store) {
			check(t, os.Rename(s.Path+"/memory.json", s.Path+"/other"))
			check(t, os.Symlink("other", s.Path+"/memory.json"))
		}},
		"others can write to its folder": {says: "/trust can be written by others (mode 0777). hint: chmod go-w",
			spoil: func(t *testing.T, s trust.Store) {
				check(t, os.Chmod(s.Path, 0o777))
			}},
		"others can write to the folder above": {says: "/state can be written by others",
			spoil: func(t *testing.T, s trust.Store) {
				check(t, os.Chmod(filepath.Dir(s.Path), 0o777))
			}},
		"a file is in the folder's place": {says: "not a directory", spoil: func(t *testing.T, s trust.Store) {
			check(t, os.RemoveAll(s.Path))
			check(t, os.WriteFile(s.Path, nil, 0o600))
		}},
		"it is too large": {says: "larger than",
			spoil: changeMemory(func(raw string) string { return raw + strings.Repeat(" ", 1<<20) })},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			check(t, accept(t.Context(), t, s, 7))
			row.spoil(t, s)
			err := accept(t.Context(), t, s, 8)
			if trust.ReasonOf(err) != hotfix.ReasonStateUnusable || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, want %q", err, row.says)
			}
		})
	}
}

func changeMemory(change func(string) string) func(t *testing.T, s trust.Store) {
	return func(t *testing.T, s trust.Store) {
		raw, err := os.ReadFile(s.Path + "/memory.json")
		check(t, err)
		check(t, os.WriteFile(s.Path+"/memory.json", []byte(change(string(raw))), 0o600))
	}
}

// TestWhatTheDiskDidNotSayIsNotFollowed: each sync of the first acceptance fails once.
func TestWhatTheDiskDidNotSayIsNotFollowed(t *testing.T) {
	failed := 0
	for at := 0; ; at++ {
		s, syncs := newStore(t), 0
		s.Trace = disk.Trace{Sync: func(*os.File) error {
			if syncs++; syncs == at+1 {
				return syscall.EIO
			}
			return nil
		}}
		err := accept(t.Context(), t, s, 7)
		if syncs <= at {
			check(t, err)
			break
		}
		if failed++; trust.ReasonOf(err) != hotfix.ReasonStateUnusable || !errors.Is(err, syscall.EIO) {
			t.Errorf("sync %d fails: %v", at, err)
		}
	}
	if failed < 5 {
		t.Errorf("only %d syncs were seen", failed)
	}
}

// TestDisksThatRefuse: what is new can't be kept and is not followed, and what was seen may be followed.
func TestDisksThatRefuse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a disk takes root")
	}
	for name, change := range map[string]func(t *testing.T, state string){
		"read-only": func(t *testing.T, state string) {
			check(t, syscall.Mount("", state, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		},
		"full": func(t *testing.T, state string) {
			err := os.WriteFile(state+"/ballast", make([]byte, 1<<20), 0o600)
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("the disk is not full: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			state := filepath.Dir(s.Path)
			check(t, os.Mkdir(state, 0o755))
			if err := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=64k,mode=755"); err != nil {
				t.Skipf("no disk can be mounted here: %v", err)
			}
			defer func() { check(t, syscall.Unmount(state, 0)) }()
			check(t, accept(t.Context(), t, s, 7))
			change(t, state)
			check(t, accept(t.Context(), t, s, 7)) // what was seen may be followed
			if err := accept(t.Context(), t, s, 8); trust.ReasonOf(err) != hotfix.ReasonStateUnusable {
				t.Errorf("%v", err)
			}
			expectCounter(t, s, 7)
		})
	}
}

// TestABusyStoreIsNotWaitedForLong: whoever holds its lock may have been stopped.
func TestABusyStoreIsNotWaitedForLong(t *testing.T) {
	s := newStore(t)
	check(t, accept(t.Context(), t, s, 7))
	folder, err := disk.Open(s.Path, disk.Trace{})
	check(t, err)
	defer folder.Close()
	release, locked, err := folder.TryLock()
	check(t, err)
	if !locked {
		t.Fatal("not locked")
	}
	defer release()
	synctest.Test(t, func(t *testing.T) {
		err := accept(t.Context(), t, s, 8)
		if trust.ReasonOf(err) != hotfix.ReasonStateUnusable ||
			!strings.Contains(err.Error(), "another process holds its lock") {
			t.Errorf("%v", err)
		}
	})
}

// TestManyAtOnceNeverGoBack: whatever their order, the highest counter is what stays.
func TestManyAtOnceNeverGoBack(t *testing.T) {
	s := newStore(t)
	var all sync.WaitGroup
	for counter := int64(1); counter <= 40; counter++ {
		all.Go(func() {
			err := accept(t.Context(), t, s, counter)
			for err != nil && strings.Contains(err.Error(), "another process holds its lock") {
				err = accept(t.Context(), t, s, counter) // the machine is busy
			}
			if err != nil && trust.ReasonOf(err) != hotfix.ReasonReplayed {
				t.Errorf("document %d: %v", counter, err)
			}
		})
	}
	all.Wait()
	expectCounter(t, s, 40)
}

func expectCounter(t testing.TB, s trust.Store, want int64) {
	t.Helper()
	s.Trace = disk.Trace{}
	check(t, s.Update(t.Context(), func(seen trust.Memory, _ func(trust.Memory) error) error {
		if seen.Counter != want {
			t.Errorf("remembered is %d, want %d", seen.Counter, want)
		}
		return nil
	}))
}
