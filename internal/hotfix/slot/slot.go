//go:build linux

package slot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"salve/internal/hotfix/disk"
)

// Slot is the place for one staged program.
type Slot struct {
	Baked  string     // the path of the program that is part of the image
	Staged string     // the path of the one to run instead
	Trials int        // how often a program is started that was not confirmed; at least 1
	Signed bool       // today's decision comes from a signed pointer, which may lower a target too
	Trace  disk.Trace // watches what is done to the disk
	// Artifact is the SHA-256 of the signed artifact that the staged program has to come from; empty where nothing is
	// signed. What came from another one, or from none, is not chosen.
	Artifact string
}

// ErrBusy means that another process is staging, and went on for too long.
var ErrBusy = errors.New("another process is fetching a hotfix")

// What lies in the staged program's folder. The suffixes go behind its name.
const (
	manifestSuffix = ".manifest"
	badSuffix      = ".bad"
	trialSuffix    = ".trial"
	lockSuffix     = ".lock"
	scratchSuffix  = ".scratch"
)

const lockPause = 100 * time.Millisecond

// Lock keeps other processes from staging until release is called. It waits for
// them until ctx ends, and then gives ErrBusy.
func (s Slot) Lock(ctx context.Context) (release func(), err error) {
	lock := flock.New(s.Staged+lockSuffix, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	locked, err := lock.TryLockContext(ctx, lockPause)
	switch {
	case ctx.Err() != nil && !locked:
		return nil, ErrBusy
	case err != nil:
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() { _ = lock.Close() }, nil // the end of the process does it too
}

// Scratch makes an empty folder for what is brought here to be staged, and clears
// the one that a killed process may have left. The lock must be held.
func (s Slot) Scratch() (path string, remove func(), err error) {
	folder, name, err := s.open()
	if err != nil {
		return "", nil, err
	}
	defer folder.Close()
	scratch := scratchOf(name)
	if err := clearScratch(folder, name); err != nil {
		return "", nil, err
	}
	if _, err := folder.Make(scratch, 0o700); err != nil {
		return "", nil, err
	}
	path = filepath.Join(filepath.Dir(s.Staged), scratch)
	return path, func() { _ = os.RemoveAll(path) }, nil // what is left, the next one clears
}

// Tidy removes what a killed process left half-written. The lock must be held.
func (s Slot) Tidy() error {
	folder, name, err := s.open()
	if err != nil {
		return err
	}
	defer folder.Close()
	return errors.Join(
		clearScratch(folder, name),
		folder.Remove(disk.Part(name)),
		folder.Remove(disk.Part(name+manifestSuffix)))
}

// open gives the staged program's folder and its name there.
func (s Slot) open() (*disk.Folder, string, error) {
	folder, err := disk.Open(filepath.Dir(s.Staged), s.Trace)
	return folder, filepath.Base(s.Staged), err
}

// mode is that of the baked program; where there is none, what a program has.
func (s Slot) mode() fs.FileMode {
	info, err := os.Stat(s.Baked)
	if err != nil {
		return 0o755
	}
	return info.Mode().Perm()
}
