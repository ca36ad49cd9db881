package slot

import (
	"errors"
	"fmt"
	"io/fs"

	"salve/internal/hotfix"
)

// Reason says why a program was chosen.
type Reason string

// The reasons, in the order in which they are tested. All but the last choose the
// baked program.
const (
	NoHotfix      Reason = "no-hotfix"      // today's decision installs none
	NotStaged     Reason = "not-staged"     // nothing is staged
	OtherTarget   Reason = "other-target"   // what is staged is not what today's decision names
	OtherArtifact Reason = "other-artifact" // it does not come from the artifact that is signed today
	Unreadable    Reason = "unreadable"     // the manifest or the program can't be read
	NotExecutable Reason = "not-executable" // not a regular, executable file
	NotAProgram   Reason = "not-a-program"  // no ELF executable for this machine
	DigestDiffers Reason = "digest-differs" // it is not the program that was verified
	MarkedBad     Reason = "marked-bad"     // it was started on this node and died
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
func (s Slot) Choose(today hotfix.Decision) Choice {
	choice := Choice{Reason: NoHotfix}
	if wanted := today.Wanted(); wanted != "" {
		choice = s.inspect(wanted)
	}
	choice.Path = s.Baked
	if choice.Staged() {
		choice.Path = s.Staged
	}
	return choice
}

// inspect checks what is staged against the target that it should be. The digest,
// which costs reading all of it, comes last but for what needs it.
func (s Slot) inspect(target string) Choice {
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
		return Choice{Reason: OtherTarget, Err: fmt.Errorf("%s is staged", manifest.Target)}
	}
	if manifest.Artifact != s.Artifact {
		return Choice{Reason: OtherArtifact}
	}
	info, err := folder.Lstat(name)
	switch {
	case err != nil:
		return Choice{Reason: unread(err), Err: err}
	case !info.Mode().IsRegular() || !executable(info):
		return Choice{Reason: NotExecutable, Err: fmt.Errorf("it is %s", info.Mode())}
	}
	file, info, err := folder.OpenRegular(name)
	if err != nil {
		return Choice{Reason: unread(err), Err: err}
	}
	defer file.Close()
	if err := checkProgram(file, info.Size()); err != nil {
		return Choice{Reason: NotAProgram, Err: err}
	}
	digest, err := digestOf(file)
	switch {
	case err != nil:
		return Choice{Reason: Unreadable, Err: err}
	case digest != manifest.SHA256:
		return Choice{Reason: DigestDiffers}
	case s.bad(folder, digest):
		return Choice{Reason: MarkedBad}
	}
	return Choice{Reason: Staged, Manifest: manifest}
}

func unread(err error) Reason {
	if errors.Is(err, fs.ErrNotExist) {
		return NotStaged
	}
	return Unreadable
}
