//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// knowsOwners says that this system tells who owns a file and who may write to it.
const knowsOwners = true

// ownedByUs tells whether a file belongs to root or to the user of this process.
func ownedByUs(info fs.FileInfo) (owner uint32, ok bool) {
	status, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return status.Uid, status.Uid == 0 || int(status.Uid) == os.Geteuid()
}

// lockFolder takes the lock on an open folder without waiting. ours is false while another holds it.
func lockFolder(folder *os.File) (ours bool, err error) {
	err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
