//go:build linux

package slot_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestWhatIsOpenedIsWhatWasVerified, whatever takes its name afterwards.
func TestWhatIsOpenedIsWhatWasVerified(t *testing.T) {
	s, manifest := onTrial(t)
	program, err := s.Open(t.Context(), manifest.SHA256)
	check(t, err)
	defer program.Close()
	hotfixtest.Write(t, s.Staged, []byte("another"))
	raw, err := io.ReadAll(io.NewSectionReader(program.File, 0, 1<<30))
	if err != nil || string(raw) != string(hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})) ||
		program.Manifest != manifest {
		t.Errorf("it has %d bytes, %v; %+v", len(raw), err, program.Manifest)
	}
}

func TestInAnyDoubtNothingIsOpened(t *testing.T) {
	other := strings.Repeat("ab", 32)
	for name, row := range map[string]struct {
		spoil  func(t *testing.T, s slot.Slot)
		digest string
		want   error
	}{
		"another digest is asked for":     {nothing, other, slot.ErrOtherProgram},
		"the manifest has another digest": {otherDigest, "", slot.ErrOtherProgram},
		"another good program has its name": {write("", hotfixtest.Image(t, hotfixtest.Behaviour{Exit: 1})), "",
			slot.ErrOtherProgram},
		"one byte differs":     {appendByte, "", slot.ErrOtherProgram},
		"it is gone":           {remove(""), "", fs.ErrNotExist},
		"the manifest is gone": {remove(".manifest"), "", fs.ErrNotExist},
		"it is a pipe": {func(t *testing.T, s slot.Slot) {
			check(t, os.Remove(s.Staged))
			check(t, syscall.Mkfifo(s.Staged, 0o755))
		}, "", nil},
		"it is a folder":             {folder(""), "", nil},
		"it is a link to a good one": {link, "", nil},
		"it can't be executed":       {mode(0o644), "", nil},
		"it is cut off":              {write("", hotfixtest.Unfit(t, target)["truncated"]), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, manifest := onTrial(t)
			row.spoil(t, s)
			if row.digest == "" {
				row.digest = manifest.SHA256
			}
			program, err := s.Open(t.Context(), row.digest)
			if err == nil {
				program.Close()
				t.Fatal("it was opened")
			}
			if row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("the error is %v, want %v", err, row.want)
			}
		})
	}
}

func appendByte(t *testing.T, s slot.Slot) {
	file, err := os.OpenFile(s.Staged, os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	_, err = file.Write([]byte{0})
	check(t, errors.Join(err, file.Close()))
}

// TestNobodyWritesWhileItIsOpen: between the look at it and its start, and from before the look.
func TestNobodyWritesWhileItIsOpen(t *testing.T) {
	s, manifest := onTrial(t)
	writer, err := os.OpenFile(s.Staged, os.O_WRONLY, 0)
	check(t, err)
	if program, err := s.Open(t.Context(), manifest.SHA256); !errors.Is(err, syscall.ETXTBSY) {
		program.Close()
		t.Errorf("somebody is writing, and it was opened: %v", err)
	}
	check(t, writer.Close())
	program, err := s.Open(t.Context(), manifest.SHA256)
	check(t, err)
	if _, err := os.OpenFile(s.Staged, os.O_WRONLY|syscall.O_NONBLOCK, 0); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("a writer who does not wait got %v", err)
	}
	waiting := exec.Command("sh", "-c", `echo spoilt >"$0"`, s.Staged)
	check(t, waiting.Start())
	raw, err := io.ReadAll(io.NewSectionReader(program.File, 0, 4))
	if err != nil || string(raw) != "\x7fELF" {
		t.Errorf("it begins with %q, %v", raw, err)
	}
	program.Close()
	check(t, waiting.Wait()) // and now he may
}

// TestReadingEndsWithTheTime: a slow disk is no reason to be late.
func TestReadingEndsWithTheTime(t *testing.T) {
	s, manifest := onTrial(t)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Open(over, manifest.SHA256); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestFindingReadsLess: it leaves the digest to who opens the program, and nothing else.
func TestFindingReadsLess(t *testing.T) {
	s, manifest := onTrial(t)
	appendByte(t, s)
	found := s.Find(decide(target))
	if found.Reason != slot.Staged || found.Manifest != manifest || found.Path != s.Staged {
		t.Errorf("found %+v", found)
	}
	expectChoice(t, s, target, slot.DigestDiffers)
	check(t, s.MarkBad(manifest.SHA256))
	if found := s.Find(decide(target)); found.Reason != slot.MarkedBad || found.Path != s.Baked {
		t.Errorf("found %+v", found)
	}
	if found := s.Find(decide("")); found.Reason != slot.NoHotfix || filepath.Base(found.Path) != "node" {
		t.Errorf("found %+v", found)
	}
}
