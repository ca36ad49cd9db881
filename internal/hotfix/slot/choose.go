//go:build linux

package slot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"salve/internal/hotfix"
	"salve/internal/hotfix/disk"
)

// Reason says why a program was chosen.
type Reason string

// The reasons, in the order in which they are tested. All but the last choose the
// baked program.
const (
	NoHotfix      Reason = "no-hotfix"      // today's decision installs none
	NotStaged     Reason = "not-staged"     // nothing is staged
	Older         Reason = "older"          // a higher patch is staged, and nobody signed the way back
	OtherTarget   Reason = "other-target"   // what is staged is not what today's decision names
	OtherArtifact Reason = "other-artifact" // it does not come from the artifact that is signed today
	Unreadable    Reason = "unreadable"     // the manifest or the program can't be read
	NotExecutable Reason = "not-executable" // not a regular, executable file
	NotAProgram   Reason = "not-a-program"  // no ELF executable for this machine
	DigestDiffers Reason = "digest-differs" // it is not the program that was verified
	MarkedBad     Reason = "marked-bad"     // it was confirmed on this node, and died or hung later
	TrialsUsed    Reason = "trials-used"    // it was started as often as it may be, and not confirmed
	Staged        Reason = "staged"
)

// Choice is the program to run.
type Choice struct {
	Path     string
	Reason   Reason
	Err      error    // the details of a reason, if there are any
	Manifest Manifest // of the staged program, when it was chosen
}

// Staged tells whether the choice is the staged program.
func (c Choice) Staged() bool { return c.Reason == Staged }

// Choose gives the staged program if everything speaks for it, else the baked
// one. It always gives a path.
func (s Slot) Choose(today hotfix.Decision) Choice { return s.choose(today, s.inspect) }

// Find is Choose for who opens the program with Open: it leaves the digest to it.
func (s Slot) Find(today hotfix.Decision) Choice { return s.choose(today, s.look) }

func (s Slot) choose(today hotfix.Decision, inspect func(target string) Choice) Choice {
	choice := Choice{Reason: NoHotfix}
	if wanted := today.Wanted(); wanted != "" {
		choice = inspect(wanted)
	}
	choice.Path = s.Baked
	if choice.Staged() {
		choice.Path = s.Staged
	}
	return choice
}

// inspect checks what is staged against the target that it should be, with its digest.
func (s Slot) inspect(target string) Choice {
	return s.inspectWith(target, func(file *os.File, manifest Manifest) error {
		digest, err := digestOf(file)
		if err == nil && digest != manifest.SHA256 {
			err = ErrOtherProgram
		}
		return err
	})
}

// look does not read all of the program.
func (s Slot) look(target string) Choice {
	return s.inspectWith(target, func(*os.File, Manifest) error { return nil })
}

func (s Slot) inspectWith(target string, read func(*os.File, Manifest) error) Choice {
	folder, name, err := s.open()
	if err != nil {
		return Choice{Reason: unread(err), Err: err}
	}
	defer folder.Close()
	manifest, err := readManifest(folder, name)
	if err != nil {
		return Choice{Reason: unread(err), Err: err}
	}
	if manifest.Target != target {
		return Choice{Reason: s.otherTarget(manifest, target), Err: fmt.Errorf("%s is staged", manifest.Target)}
	}
	if manifest.Artifact != s.Artifact {
		return Choice{Reason: OtherArtifact}
	}
	if reason, err := examine(folder, name, manifest, read); reason != Staged {
		return Choice{Reason: reason, Err: err}
	}
	return s.experience(folder, name, manifest)
}

// otherTarget tells a step back, which an old pointer may be that somebody has kept,
// from another step.
func (s Slot) otherTarget(staged Manifest, target string) Reason {
	if s.wayBack(staged, target) {
		return Older
	}
	return OtherTarget
}

func (s Slot) wayBack(staged Manifest, target string) bool {
	there, errThere := hotfix.ParseVersion(staged.Target)
	wanted, err := hotfix.ParseVersion(target)
	return !s.Signed && err == nil && errThere == nil && wanted.Base() == there.Base() && wanted.Before(there)
}

// examine looks at the program itself.
func examine(
	folder *disk.Folder, name string, manifest Manifest, read func(*os.File, Manifest) error,
) (Reason, error) {
	info, err := folder.Lstat(name)
	switch {
	case err != nil:
		return unread(err), err
	case !info.Mode().IsRegular() || !executable(info):
		return NotExecutable, fmt.Errorf("it is %s", info.Mode())
	}
	file, info, err := folder.OpenRegular(name)
	if err != nil {
		return unread(err), err
	}
	defer file.Close()
	if err := checkProgram(file, info.Size()); err != nil {
		return NotAProgram, err
	}
	switch err := read(file, manifest); {
	case errors.Is(err, ErrOtherProgram):
		return DigestDiffers, nil
	case err != nil:
		return Unreadable, err
	}
	return Staged, nil
}

// experience is what this node knows of the program from having started it.
func (s Slot) experience(folder *disk.Folder, name string, manifest Manifest) Choice {
	if s.bad(folder, manifest.SHA256) {
		return Choice{Reason: MarkedBad}
	}
	trial, err := trialOf(folder, name, manifest)
	switch {
	case err != nil:
		return Choice{Reason: Unreadable, Err: err}
	case trial.used(s.Trials):
		return Choice{Reason: TrialsUsed, Err: fmt.Errorf("%d of %d", trial.Trials, max(s.Trials, 1))}
	}
	return Choice{Reason: Staged, Manifest: manifest}
}

func unread(err error) Reason {
	if errors.Is(err, fs.ErrNotExist) {
		return NotStaged
	}
	return Unreadable
}
