package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/disk"
)

// Store keeps the memory in a folder of its own, which nobody but root and this user may write to.
type Store struct {
	Path  string
	Clock clock.Clock
	Trace disk.Trace // watches what is done to the disk
}

const (
	memoryFile = "memory.json"
	// What others do while they hold the lock takes milliseconds; a boot does not wait for one that was stopped.
	lockPatience = 2 * time.Second
	lockPause    = 10 * time.Millisecond
)

// Update gives what is remembered to a function, and keeps what it wants to be remembered, durably, before it returns.
// The function runs while no other process does the same; it may call keep more than once. An error of keep is the
// disk's: then nothing may be done that relies on being remembered.
//
// The errors are *hotfix.UnusableError, or the function's own.
func (s Store) Update(ctx context.Context, use func(seen Memory, keep func(Memory) error) error) error {
	folder, err := s.open()
	if err != nil {
		return s.unusable(err)
	}
	defer folder.Close()
	release, err := s.lock(ctx, folder)
	if err != nil {
		return s.unusable(err)
	}
	defer release()
	seen, found, err := read(folder)
	if err != nil {
		return s.unusable(fmt.Errorf("%s: %w. hint: look who changed it, and remove it", memoryFile, err))
	}
	return use(seen, func(next Memory) error {
		if next.same(seen) {
			return nil
		}
		if err := s.write(folder, next, !found); err != nil {
			return s.unusable(err)
		}
		seen, found = next, true
		return nil
	})
}

func (s Store) unusable(err error) error {
	return refused(hotfix.ReasonStateUnusable, "%s: what was seen can't be remembered: %w", s.Path, err)
}

// open makes the folder where it isn't there, and opens it where nobody else could have put it. What is above it may
// be read by all, as the events that lie there.
func (s Store) open() (*disk.Folder, error) {
	above, err := disk.MakeAll(filepath.Dir(s.Path), 0o755, s.Trace)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	if _, err := above.Lstat(filepath.Base(s.Path)); errors.Is(err, fs.ErrNotExist) {
		if _, err := above.Make(filepath.Base(s.Path), 0o700); err != nil {
			return nil, err
		}
	}
	return disk.OpenGuarded(s.Path, s.Trace)
}

func (s Store) lock(ctx context.Context, folder *disk.Folder) (release func(), err error) {
	limited, cancel := clock.WithTimeout(ctx, s.Clock, lockPatience)
	defer cancel()
	for {
		release, locked, err := folder.TryLock()
		if locked || err != nil {
			return release, err
		}
		if clock.Sleep(limited, s.Clock, lockPause) != nil {
			return nil, errors.New("another process holds its lock")
		}
	}
}

func read(folder *disk.Folder) (seen Memory, found bool, err error) {
	raw, err := folder.Read(memoryFile, maxMemory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Memory{}, false, nil
	case err != nil:
		return Memory{}, false, err
	}
	seen, err = parseMemory(raw)
	return seen, true, err
}

// write puts a memory in place. Before the first one the names of the folders on its way are made certain: whoever
// made them did not wait for the disk.
func (s Store) write(folder *disk.Folder, memory Memory, first bool) error {
	raw, err := memory.encode()
	if err != nil {
		return err
	}
	state := filepath.Dir(s.Path)
	for _, path := range []string{filepath.Dir(state), state} {
		if !first {
			break
		}
		above, err := disk.Open(path, s.Trace)
		if err != nil {
			return err
		}
		err = above.Flush()
		above.Close()
		if err != nil {
			return err
		}
	}
	return folder.Replace(memoryFile, bytes.NewReader(raw), 0o600)
}
