package cleanup

import (
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"hash"
	"io/fs"
	"os"
	"path/filepath"

	"salve/internal/apierr"
)

// largest is the size up to which a bundle is made at all.
const largest = 1 << 30

// runMark stands before a run's name in the comment of a bundle's gzip header.
const runMark = "salve run "

// store takes a bundle as it is written.
type store struct {
	path, partial string
	file          *os.File
	// small is the whole bundle, where there is no file.
	small  []byte
	digest hash.Hash
	size   int64
}

// openStore opens a store for a run's bundle: a file, or memory for an empty path.
func openStore(path, run string) (*store, error) {
	s := &store{digest: sha256.New()}
	if path == "" {
		s.small = []byte{}
		return s, nil
	}
	if err := overwritable(path, run); err != nil {
		return nil, err
	}
	s.partial, s.path = path+".partial", path
	if err := os.Remove(s.partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// Exclusively: a link that somebody put in its place meanwhile is not followed.
	var err error
	s.file, err = os.OpenFile(s.partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return s, err
}

// overwritable fails when there is a file that this run did not make.
func overwritable(path, run string) error {
	file, err := os.Open(path) //nolint:gosec // G304: the file that the user named with --bundle
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if header, err := gzip.NewReader(file); err == nil && header.Comment == runMark+run {
		return nil
	}
	return apierr.New(apierr.Terminal, "conflict: file %q exists and is not this run's. "+
		"hint: name another one with --bundle", path)
}

// Write keeps what it is given, as far as there is room.
func (s *store) Write(some []byte) (int, error) {
	s.size += int64(len(some))
	s.digest.Write(some)
	switch {
	case s.size > largest:
		return 0, apierr.New(apierr.Terminal, "the bundle is larger than %d MiB", largest>>20)
	case s.file != nil:
		return s.file.Write(some)
	case s.size > mostExported:
		return 0, apierr.New(apierr.Terminal,
			"the bundle is larger than the %d MiB that a run exports. hint: name a file for it with --bundle", mostExported>>20)
	}
	s.small = append(s.small, some...)
	return len(some), nil
}

// keep makes the file durable under its name.
func (s *store) keep() error {
	if s.file == nil {
		return nil
	}
	if err := errors.Join(s.file.Sync(), os.Rename(s.partial, s.path)); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// discard closes the file, and removes it unless it was kept.
func (s *store) discard() error {
	if s.file == nil {
		return nil
	}
	err := os.Remove(s.partial)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.file.Close())
}
