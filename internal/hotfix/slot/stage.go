//go:build linux

package slot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/disk"
)

// ErrMarkedBad means that this very program has failed on this node before.
var ErrMarkedBad = errors.New("this program is marked bad: it was started here and died")

// ErrOlder means that a higher patch of the same base is staged. Nobody has signed the way back.
var ErrOlder = errors.New("a higher patch is staged, and only a signed pointer takes it back")

// UnfitError says why a candidate can't be staged: nothing of it is in place.
type UnfitError struct{ Err error }

func (e *UnfitError) Error() string { return "the program is unfit: " + e.Err.Error() }
func (e *UnfitError) Unwrap() error { return e.Err }

// Candidate is a program that was brought here, and claims to be a version.
type Candidate struct {
	Path   string
	Target hotfix.Version
	Source string    // where it is from, for the manifest
	Time   time.Time // now, for the manifest
}

// Current tells whether the slot holds target already, unharmed. A program of that
// target that is marked bad gives ErrMarkedBad, and a lower target than that of what is
// staged ErrOlder: to fetch it would be in vain.
func (s Slot) Current(target hotfix.Version) (bool, error) {
	choice := s.inspect(target.String())
	switch choice.Reason {
	case MarkedBad:
		return false, ErrMarkedBad
	case Older:
		return false, ErrOlder
	default: // it is in place, or can be fetched
	}
	return choice.Reason == Staged || choice.Reason == TrialsUsed, nil
}

// Stage copies a candidate beside the slot, verifies the copy, and puts it in
// place with its manifest. The lock must be held. Errors: *UnfitError,
// ErrMarkedBad, ErrOlder, and those of the file system; after any of them Choose still
// answers with a program that runs.
func (s Slot) Stage(ctx context.Context, candidate Candidate) (Manifest, error) {
	if err := s.checkApart(); err != nil {
		return Manifest{}, err
	}
	folder, name, err := s.open()
	if err != nil {
		return Manifest{}, err
	}
	defer folder.Close()
	if there, err := readManifest(folder, name); err == nil && s.wayBack(there, candidate.Target.String()) {
		return Manifest{}, ErrOlder
	}
	manifest := Manifest{
		SchemaVersion: manifestVersion, Target: candidate.Target.String(),
		Staged: candidate.Time.UTC(), Source: candidate.Source, Artifact: s.Artifact,
	}
	if err := s.copyIn(folder, candidate.Path); err != nil {
		return Manifest{}, err
	}
	part := disk.Part(name)
	manifest.SHA256, err = s.verify(ctx, folder, part, candidate.Target)
	if err != nil {
		return Manifest{}, errors.Join(err, folder.Remove(part))
	}
	if err := folder.Rename(part, name); err != nil {
		return Manifest{}, err
	}
	if err := manifest.write(folder, name); err != nil {
		return manifest, err
	}
	return manifest, dropSpoiltTrial(folder, name)
}

// dropSpoiltTrial removes a record of trials that can't be read. It would keep every
// program from being started, and was of another one.
func dropSpoiltTrial(folder *disk.Folder, name string) error {
	_, err := readTrial(folder, name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return folder.Remove(name + trialSuffix)
}

// checkApart refuses a slot whose staged program would take the place of the baked
// one, by whatever path.
func (s Slot) checkApart() error {
	folder, err := filepath.EvalSymlinks(filepath.Dir(s.Staged))
	if err != nil {
		return err
	}
	place := filepath.Join(folder, filepath.Base(s.Staged))
	bakedFolder, _ := filepath.EvalSymlinks(filepath.Dir(s.Baked)) // no folder, no baked program
	baked, _ := filepath.EvalSymlinks(s.Baked)
	if place == baked || place == filepath.Join(bakedFolder, filepath.Base(s.Baked)) {
		return fmt.Errorf("%s is the baked program, which is never replaced", s.Staged)
	}
	return nil
}

// copyIn writes the candidate into the slot's folder under the name of what
// doesn't count yet.
func (s Slot) copyIn(folder *disk.Folder, path string) error {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &UnfitError{disk.ErrNotRegular}
	}
	if err := checkProgram(file, info.Size()); err != nil {
		return &UnfitError{err}
	}
	part := disk.Part(filepath.Base(s.Staged))
	if err := folder.Remove(part); err != nil {
		return err
	}
	return folder.Create(part, io.NewSectionReader(file, 0, info.Size()), s.mode())
}

// verify checks the very file that will be renamed, and gives its digest.
func (s Slot) verify(ctx context.Context, folder *disk.Folder, part string, target hotfix.Version) (string, error) {
	file, info, err := folder.OpenRegular(part)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := checkProgram(file, info.Size()); err != nil {
		return "", &UnfitError{err}
	}
	digest, err := digestOf(file)
	if err != nil {
		return "", err
	}
	if s.bad(folder, digest) {
		return "", ErrMarkedBad
	}
	said, err := Ask(ctx, filepath.Join(filepath.Dir(s.Staged), part))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", &UnfitError{err}
	case !said.Is(target):
		return "", &UnfitError{fmt.Errorf("it says that it is version %s, and %s was asked for", said, target)}
	}
	return digest, nil
}

// executable tells whether the owner of a file, root here, could execute it.
func executable(info fs.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }
