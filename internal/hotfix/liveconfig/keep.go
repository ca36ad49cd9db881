//go:build linux

package liveconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"salve/internal/clock"
	"salve/internal/hotfix"
)

const (
	lockPatience = 5 * time.Second
	lockPause    = 20 * time.Millisecond
	newFileMode  = 0o644 // of a pointer file where there was none: it holds no secret
)

// rewrite changes a pointer file under its lock, all at once: change gets what it
// holds and gives what it shall hold, or nil to leave it. Mode and owner stay. A
// symbolic link stays too; the file that it leads to is the one that is rewritten.
func (c *Client) rewrite(ctx context.Context, path string, change func(contents []byte) ([]byte, error)) (written bool,
	err error) {
	path, err = behindLinks(path)
	if err != nil {
		return false, err
	}
	limited, cancel := clock.WithTimeout(ctx, c.settings.Clock, lockPatience)
	defer cancel()
	lock := flock.New(path + ".lock")
	if _, err := lock.TryLockContext(limited, lockPause); err != nil {
		return false, fmt.Errorf("locking %s: %w", path, err)
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process at the latest
	before, err := hotfix.Contents(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	after, err := change(before)
	if err != nil || after == nil || string(after) == string(before) {
		return false, err
	}
	return true, replace(path, after)
}

// behindLinks is the file that a path leads to, whether or not it exists.
func behindLinks(path string) (string, error) {
	behind, err := filepath.EvalSymlinks(path)
	if err == nil {
		return behind, nil
	}
	if _, missing := os.Lstat(path); errors.Is(missing, fs.ErrNotExist) {
		return path, nil
	}
	return "", err
}

// replace puts a file in place by renaming, after the disk has it.
func replace(path string, contents []byte) error {
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // there is nothing to remove once it was renamed
	defer file.Close()
	if err := likeBefore(path, file); err != nil {
		return err
	}
	if _, err := file.Write(contents); err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}

// likeBefore gives a new file the mode and the owner of the one that it replaces.
func likeBefore(path string, file *os.File) error {
	var before, made syscall.Stat_t
	err := syscall.Stat(path, &before)
	if errors.Is(err, fs.ErrNotExist) {
		return file.Chmod(newFileMode)
	}
	if err == nil {
		err = syscall.Fstat(int(file.Fd()), &made)
	}
	if err != nil {
		return err
	}
	// Giving a file away takes its special bits, so the mode comes last.
	if before.Uid != made.Uid || before.Gid != made.Gid {
		if err := file.Chown(int(before.Uid), int(before.Gid)); err != nil {
			return err
		}
	}
	return file.Chmod(fs.FileMode(before.Mode & 0o777))
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
