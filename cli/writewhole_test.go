//go:build unix

package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWriteWhole: what is there stays what it is, a link, a device, a mode; and it is replaced whole or not at all.
func TestWriteWhole(t *testing.T) {
	write := func(file *os.File) error { _, err := file.WriteString("new"); return err }
	fail := func(file *os.File) error {
		_, err := file.WriteString("half")
		return errors.Join(err, errors.New("full"))
	}
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, mode := range map[string]fs.FileMode{"private": 0o600, "shared": 0o664, "odd": 0o604} {
		must(t, os.WriteFile(at(name), []byte("old"), mode))
		must(t, os.Chmod(at(name), mode))
		must(t, writeWhole(at(name), write))
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != mode || content(t, at(name)) != "new" {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	must(t, os.Symlink("private", at("link")))
	must(t, os.WriteFile(at("private"), []byte("old"), 0o600))
	must(t, writeWhole(at("link"), write))
	if target, err := os.Readlink(at("link")); err != nil || target != "private" || content(t, at("private")) != "new" {
		t.Errorf("the link: %q, %v, %q", target, err, content(t, at("private")))
	}
	if err := writeWhole(at("private"), fail); err == nil || content(t, at("private")) != "new" {
		t.Errorf("half a file: %v, %q", err, content(t, at("private")))
	}
	must(t, os.Symlink("nowhere", at("dangling")))
	for _, name := range []string{"dangling", "."} {
		if err := writeWhole(at(name), write); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	left, err := filepath.Glob(at(".*-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestWriteWholeIntoWhatIsNoFile: a pipe is written into, and stays a pipe.
func TestWriteWholeIntoWhatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	read := make(chan string, 1)
	go func() {
		raw, err := os.ReadFile(pipe)
		read <- string(raw) + errorText(err)
	}()
	must(t, writeWhole(pipe, func(file *os.File) error { _, err := file.WriteString("new"); return err }))
	if got := <-read; got != "new" {
		t.Errorf("read %q", got)
	}
	must(t, writeWhole(os.DevNull, func(file *os.File) error { _, err := file.WriteString("new"); return err }))
	for _, path := range []string{pipe, os.DevNull} {
		if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
			t.Errorf("%s is %v now, %v", path, info.Mode(), err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimSpace(err.Error())
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	return string(raw)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
