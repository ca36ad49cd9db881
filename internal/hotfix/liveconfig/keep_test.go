//go:build linux

package liveconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// change puts a text in place of whatever is there.
func change(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func TestModeAndOwnerStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pointer.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(path, 1234, 5678); err != nil {
			t.Fatal(err)
		}
	}
	var before, after syscall.Stat_t
	if err := syscall.Stat(path, &before); err != nil {
		t.Fatal(err)
	}
	if written, err := New(Settings{}).rewrite(t.Context(), path, change("{ }")); !written || err != nil {
		t.Fatal(written, err)
	}
	if err := syscall.Stat(path, &after); err != nil {
		t.Fatal(err)
	}
	if before.Mode != after.Mode || before.Uid != after.Uid || before.Gid != after.Gid {
		t.Errorf("%o %d %d before, %o %d %d after", before.Mode, before.Uid, before.Gid, after.Mode, after.Uid, after.Gid)
	}
}

func TestWhereAPointerIsWritten(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(path string) error
		refused bool
	}{
		"where there is none": {prepare: func(string) error { return nil }},
		"behind a link": {prepare: func(path string) error {
			return errors.Join(os.WriteFile(path+".real", []byte("{}"), 0o600), os.Symlink(path+".real", path))
		}},
		"not behind a link to nothing": {prepare: func(path string) error { return os.Symlink("nothing", path) },
			refused: true},
		"not over a folder": {prepare: func(path string) error { return os.Mkdir(path, 0o700) }, refused: true},
		"not over a pipe": {prepare: func(path string) error { return syscall.Mkfifo(path, 0o600) },
			refused: true},
		"not over what is too large": {prepare: func(path string) error {
			return os.WriteFile(path, make([]byte, 65<<10),
				0o600)
		}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "pointer.json")
			if err := row.prepare(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			written, err := New(Settings{}).rewrite(t.Context(), path, change("{ }"))
			if written == row.refused || (err != nil) != row.refused {
				t.Fatalf("written %t, %v", written, err)
			}
			after, err := os.Lstat(path)
			if before != nil && (err != nil || before.Mode().Type() != after.Mode().Type()) {
				t.Errorf("it was %v and is %v", before.Mode(), after.Mode())
			}
			if !row.refused {
				if raw, err := os.ReadFile(path); err != nil || string(raw) != "{ }" {
					t.Errorf("it holds %q, %v", raw, err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(folder, ".pointer*")); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// TestWriters has real processes rewrite one file at once: no change is lost, and
// whoever reads meanwhile never sees a part of one.
func TestWriters(t *testing.T) {
	const writers, each = 2, 50
	if path := os.Getenv("SALVE_TEST_POINTER"); path != "" {
		writeOften(t, path, each)
		return
	}
	path := filepath.Join(t.TempDir(), "pointer.json")
	if err := os.WriteFile(path, []byte(`{"count":0}`), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, writers)
	for range writers {
		command := exec.Command(os.Args[0], "-test.run=^TestWriters$")
		command.Env = append(os.Environ(), "SALVE_TEST_POINTER="+path)
		go func() {
			out, err := command.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			done <- err
		}()
	}
	readings := time.NewTicker(time.Millisecond)
	defer readings.Stop()
	for running := writers; running > 0; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			running--
		case <-readings.C:
			countIn(t, path)
		}
	}
	if got := countIn(t, path); got != writers*each {
		t.Errorf("%d changes of %d are there", got, writers*each)
	}
}

func writeOften(t *testing.T, path string, times int) {
	for range times {
		_, err := New(Settings{}).rewrite(t.Context(), path, func(contents []byte) ([]byte, error) {
			var document struct{ Count int }
			err := json.Unmarshal(contents, &document)
			return []byte(`{"count":` + strconv.Itoa(document.Count+1) + `}`), err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func countIn(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Count int }
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatalf("torn: %q", raw)
	}
	return document.Count
}
