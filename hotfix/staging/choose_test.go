package staging_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/hotfix/hotfixtest"
	"salve/hotfix/staging"
)

// TestWhatIsChosen spoils a slot that holds the target, in one way at a time.
func TestWhatIsChosen(t *testing.T) {
	good := hotfixtest.Image(t, hotfixtest.Behaviour{Version: target})
	for name, row := range map[string]struct {
		spoil  func(t *testing.T, slot staging.Slot)
		wanted string
		reason staging.Reason
	}{
		"all is well":                         {nothing, target, staging.Staged},
		"the pointer was withdrawn":           {nothing, "", staging.NoHotfix},
		"the pointer was lowered":             {nothing, "202604.01.1", staging.OtherTarget},
		"the pointer was raised":              {nothing, "202604.01.3", staging.OtherTarget},
		"the pointer names another suffix":    {nothing, target + "-u1", staging.OtherTarget},
		"the pointer names the baked version": {nothing, current, staging.NoHotfix},
		"the program is gone":                 {remove(""), target, staging.NotStaged},
		"the manifest is gone":                {remove(".manifest"), target, staging.NotStaged},
		"the manifest is empty":               {write(".manifest", nil), target, staging.Unreadable},
		"the manifest is cut off":             {write(".manifest", []byte(`{"schemaVersion":1,"tar`)), target, staging.Unreadable},
		"the manifest is of a later format":   {write(".manifest", []byte(`{"schemaVersion":2,"target":"`+target+`"}`)), target, staging.Unreadable},
		"the manifest is huge":                {write(".manifest", make([]byte, 1<<20)), target, staging.Unreadable},
		"the manifest is a folder":            {folder(".manifest"), target, staging.Unreadable},
		"the manifest is of another program":  {otherDigest, target, staging.DigestDiffers},
		"the program can't be executed":       {mode(0o644), target, staging.NotExecutable},
		"the program is a folder":             {folder(""), target, staging.NotExecutable},
		"the program is a link to a good one": {link, target, staging.NotExecutable},
		"one byte of the program differs":     {write("", append(append([]byte{}, good...), 0)), target, staging.DigestDiffers},
		"the program is another, good one": {
			write("", hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.9"})), target, staging.DigestDiffers},
		"the marks are unreadable": {write(".bad", nil), target, staging.MarkedBad},
	} {
		t.Run(name, func(t *testing.T) {
			slot := newSlot(t)
			_, err := stage(t, slot, good, target)
			check(t, err)
			row.spoil(t, slot)
			expectChoice(t, slot, row.wanted, row.reason)
		})
	}
	for name, image := range hotfixtest.Unfit(t, target) {
		t.Run("the program became "+name, func(t *testing.T) {
			slot := newSlot(t)
			_, err := stage(t, slot, good, target)
			check(t, err)
			write("", image)(t, slot)
			expectChoice(t, slot, target, staging.NotAProgram)
		})
	}
}

// TestAPathIsAlwaysChosen: even where there is no baked program to run.
func TestAPathIsAlwaysChosen(t *testing.T) {
	slot := staging.Slot{Baked: "/nowhere/node", Staged: "/nowhere/either/node-hotfix"}
	if choice := slot.Choose(decide(target)); choice.Path != "/nowhere/node" || choice.Reason != staging.NotStaged {
		t.Errorf("chosen: %+v", choice)
	}
}

// BenchmarkChoose reads all of a program of 50 MiB, for its digest.
func BenchmarkChoose(b *testing.B) {
	const size = 50 << 20
	folder := b.TempDir()
	image := hotfixtest.Image(b, hotfixtest.Behaviour{Version: target})
	image = append(make([]byte, 0, size), image...)[:size]
	slot := staging.Slot{Baked: "/bin/true", Staged: filepath.Join(folder, "node-hotfix")}
	hotfixtest.Write(b, slot.Staged, image)
	manifest, err := json.Marshal(staging.Manifest{SchemaVersion: 1, Target: target, SHA256: fmt.Sprintf("%x", sha256.Sum256(image))})
	check(b, err)
	check(b, os.WriteFile(slot.Staged+".manifest", manifest, 0o644))
	b.SetBytes(size)
	for b.Loop() {
		if choice := slot.Choose(decide(target)); !choice.Staged() {
			b.Fatal(choice.Reason, choice.Err)
		}
	}
}

func nothing(*testing.T, staging.Slot) {}

func remove(suffix string) func(*testing.T, staging.Slot) {
	return func(t *testing.T, slot staging.Slot) { check(t, os.Remove(slot.Staged+suffix)) }
}

func write(suffix string, content []byte) func(*testing.T, staging.Slot) {
	return func(t *testing.T, slot staging.Slot) {
		check(t, os.WriteFile(slot.Staged+suffix, content, 0o755))
	}
}

func mode(mode os.FileMode) func(*testing.T, staging.Slot) {
	return func(t *testing.T, slot staging.Slot) { check(t, os.Chmod(slot.Staged, mode)) }
}

func folder(suffix string) func(*testing.T, staging.Slot) {
	return func(t *testing.T, slot staging.Slot) {
		check(t, os.Remove(slot.Staged+suffix))
		check(t, os.Mkdir(slot.Staged+suffix, 0o755))
	}
}

func link(t *testing.T, slot staging.Slot) {
	check(t, os.Rename(slot.Staged, slot.Staged+".moved"))
	check(t, os.Symlink(slot.Staged+".moved", slot.Staged))
}

func otherDigest(t *testing.T, slot staging.Slot) {
	raw, err := os.ReadFile(slot.Staged + ".manifest")
	check(t, err)
	var manifest staging.Manifest
	check(t, json.Unmarshal(raw, &manifest))
	manifest.SHA256 = strings.Repeat("ab", 32)
	raw, err = json.Marshal(manifest)
	check(t, err)
	check(t, os.WriteFile(slot.Staged+".manifest", raw, 0o644))
}
