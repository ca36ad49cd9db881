//go:build unix

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lockFile takes the lock on an open file without waiting. ours is false while another holds it.
func lockFile(file *os.File) (ours bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// syncNames waits until the disk has a folder's names.
func syncNames(dir *os.File) error { return dir.Sync() }

// namesOf is how many names a file has.
func namesOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink) //nolint:unconvert // its size differs between systems
	}
	return 1
}

// ownersAlone tells why a file is not its owner's alone, and what to do about that.
func ownersAlone(path string, info fs.FileInfo) (hint string, err error) {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "chmod 600 " + path, fmt.Errorf("forbidden: mode %04o lets others at it, want 0600", mode)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Sprintf("run Salve as that user, or set SALVE_JOURNAL_KEY_FILE to a key file of user %d", os.Geteuid()),
			fmt.Errorf("forbidden: it belongs to user %d, want %d", stat.Uid, os.Geteuid())
	}
	return "", nil
}
