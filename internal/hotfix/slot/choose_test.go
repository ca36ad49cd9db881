//go:build linux

package slot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/hotfix/hotfixtest"
	"salve/internal/hotfix/slot"
)

// TestWhatIsChosen spoils a slot that holds the target, in one way at a time.
func TestWhatIsChosen(t *testing.T) {
	good := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	for name, row := range map[string]struct {
		spoil  func(t *testing.T, s slot.Slot)
		wanted string
		reason slot.Reason
	}{
		"all is well":                         {nothing, target, slot.Staged},
		"the pointer was withdrawn":           {nothing, "", slot.NoHotfix},
		"the pointer was lowered":             {nothing, "202604.01.1", slot.Older},
		"the pointer was lowered to another":  {nothing, "202604.01.1-u1", slot.Older},
		"the pointer was raised":              {nothing, "202604.01.3", slot.OtherTarget},
		"the pointer names another suffix":    {nothing, target + "-u1", slot.OtherTarget},
		"the pointer names the baked version": {nothing, current, slot.NoHotfix},
		"the program is gone":                 {remove(""), target, slot.NotStaged},
		"the manifest is gone":                {remove(".manifest"), target, slot.NotStaged},
		"the manifest is empty":               {write(".manifest", nil), target, slot.Unreadable},
		"the manifest is cut off": {write(".manifest", []byte(`{"schemaVersion":1,"tar`)), target,
			slot.Unreadable},
		"the manifest is of a later format": {write(".manifest", []byte(`{"schemaVersion":2,"target":"`+target+`"}`)),
			target, slot.Unreadable},
		"the manifest's time is no time": {otherManifest(`"staged":"`, `"staged":"about `), target, slot.Unreadable},
		"the manifest has half a digest": {otherManifest(`"sha256":"`, `"sha256":"ab","was":"`), target,
			slot.Unreadable},
		"the manifest's digest is none":       {otherManifest(`"sha256":"`, `"sha256":"so `), target, slot.Unreadable},
		"the manifest is huge":                {write(".manifest", make([]byte, 1<<20)), target, slot.Unreadable},
		"the manifest is a folder":            {folder(".manifest"), target, slot.Unreadable},
		"the manifest is of another program":  {otherDigest, target, slot.DigestDiffers},
		"the program can't be executed":       {mode(0o644), target, slot.NotExecutable},
		"the program is a folder":             {folder(""), target, slot.NotExecutable},
		"the program is a link to a good one": {link, target, slot.NotExecutable},
		"one byte of the program differs":     {write("", append(append([]byte{}, good...), 0)), target, slot.DigestDiffers},
		"the program is another, good one": {
			write("", hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.9"})), target, slot.DigestDiffers},
		"the marks are unreadable": {write(".bad", nil), target, slot.MarkedBad},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlot(t)
			_, err := stage(t, s, good, target)
			check(t, err)
			row.spoil(t, s)
			expectChoice(t, s, row.wanted, row.reason)
		})
	}
	for name, image := range hotfixtest.Unfit(t, target) {
		t.Run("the program became "+name, func(t *testing.T) {
			s := newSlot(t)
			_, err := stage(t, s, good, target)
			check(t, err)
			write("", image)(t, s)
			expectChoice(t, s, target, slot.NotAProgram)
		})
	}
}

// TestAProgramThatCannotBeReadIsNotChosen, though it could be executed: nobody knows what it is.
func TestAProgramThatCannotBeReadIsNotChosen(t *testing.T) {
	s := newSlot(t)
	_, err := stage(t, s, hotfixtest.Image(t, hotfixtest.Behaviour{Version: target}), target)
	check(t, err)
	mode(0o111)(t, s)
	asNobody(t, func() {
		choice := s.Choose(decide(target))
		if choice.Path != s.Baked || choice.Reason != slot.Unreadable || !errors.Is(choice.Err, fs.ErrPermission) {
			t.Errorf("chosen: %+v", choice)
		}
	})
}

// TestAPathIsAlwaysChosen: even where there is no baked program to run.
func TestAPathIsAlwaysChosen(t *testing.T) {
	s := slot.Slot{Baked: "/nowhere/node", Staged: "/nowhere/either/node-hotfix"}
	if choice := s.Choose(decide(target)); choice.Path != "/nowhere/node" || choice.Reason != slot.NotStaged {
		t.Errorf("chosen: %+v", choice)
	}
}

// BenchmarkChoose reads all of a program of 50 MiB, for its digest.
func BenchmarkChoose(b *testing.B) {
	const size = 50 << 20
	folder := b.TempDir()
	image := hotfixtest.Image(b, hotfixtest.Behaviour{Version: target})
	image = append(make([]byte, 0, size), image...)[:size]
	s := slot.Slot{Baked: "/bin/true", Staged: filepath.Join(folder, "node-hotfix")}
	hotfixtest.Write(b, s.Staged, image)
	manifest, err := json.Marshal(slot.Manifest{SchemaVersion: 1, Target: target,
		SHA256: fmt.Sprintf("%x", sha256.Sum256(image))})
	check(b, err)
	check(b, os.WriteFile(s.Staged+".manifest", manifest, 0o644))
	b.SetBytes(size)
	for b.Loop() {
		if choice := s.Choose(decide(target)); !choice.Staged() {
			b.Fatal(choice.Reason, choice.Err)
		}
	}
}

func nothing(*testing.T, slot.Slot) {}

func remove(suffix string) func(*testing.T, slot.Slot) {
	return func(t *testing.T, s slot.Slot) { check(t, os.Remove(s.Staged+suffix)) }
}

func write(suffix string, content []byte) func(*testing.T, slot.Slot) {
	return func(t *testing.T, s slot.Slot) {
		check(t, os.WriteFile(s.Staged+suffix, content, 0o755))
	}
}

func mode(mode os.FileMode) func(*testing.T, slot.Slot) {
	return func(t *testing.T, s slot.Slot) { check(t, os.Chmod(s.Staged, mode)) }
}

func folder(suffix string) func(*testing.T, slot.Slot) {
	return func(t *testing.T, s slot.Slot) {
		check(t, os.Remove(s.Staged+suffix))
		check(t, os.Mkdir(s.Staged+suffix, 0o755))
	}
}

func link(t *testing.T, s slot.Slot) {
	check(t, os.Rename(s.Staged, s.Staged+".moved"))
	check(t, os.Symlink(s.Staged+".moved", s.Staged))
}

func otherManifest(from, to string) func(*testing.T, slot.Slot) {
	return func(t *testing.T, s slot.Slot) {
		raw, err := os.ReadFile(s.Staged + ".manifest")
		check(t, err)
		write(".manifest", bytes.Replace(raw, []byte(from), []byte(to), 1))(t, s)
	}
}

func otherDigest(t *testing.T, s slot.Slot) {
	raw, err := os.ReadFile(s.Staged + ".manifest")
	check(t, err)
	var manifest slot.Manifest
	check(t, json.Unmarshal(raw, &manifest))
	manifest.SHA256 = strings.Repeat("ab", 32)
	raw, err = json.Marshal(manifest)
	check(t, err)
	check(t, os.WriteFile(s.Staged+".manifest", raw, 0o644))
}
