//go:build linux

package slot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"

	"salve/internal/hotfix/disk"
)

// Leftover tells whether a killed process has left something half-written, or another
// one is at it just now. It costs a few looks at the disk.
func (s Slot) Leftover() bool {
	folder, name, err := s.open()
	if err != nil {
		return false
	}
	defer folder.Close()
	for _, one := range []string{scratchOf(name), disk.Part(name), disk.Part(name + manifestSuffix)} {
		if _, err := folder.Lstat(one); err == nil {
			return true
		}
	}
	return false
}

// TryLock is Lock for what can wait: locked is false where another process has it.
func (s Slot) TryLock() (release func(), locked bool, err error) {
	lock := flock.New(s.Staged+lockSuffix, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if locked, err = lock.TryLock(); err != nil || !locked {
		return nil, false, err
	}
	return func() { _ = lock.Close() }, true, nil // the end of the process does it too
}

func scratchOf(name string) string { return "." + name + scratchSuffix }

// clearScratch removes the folder of an earlier fetch, and nothing else that may stand
// in its place.
func clearScratch(folder *disk.Folder, name string) error {
	info, err := folder.Lstat(scratchOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !known || int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a folder of ours, and is left as it is", scratchOf(name))
	}
	return folder.Clear(scratchOf(name))
}
