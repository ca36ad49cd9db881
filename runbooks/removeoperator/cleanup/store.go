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

const (
	// inJournal is the size up to which a bundle is kept in the journal. There it is
	// a third larger, and the API server takes a megabyte for an object.
	inJournal = 512 << 10
	// largest is the size up to which a bundle is made at all.
	largest = 1 << 30
)

// runMark stands before a run's name in the comment of a bundle's gzip header.
const runMark = "salve run "

// store takes a bundle as it is written.
type store struct {
	path, partial string
	file          *os.File
	// small is the whole bundle while it fits into a journal; nil from then on.
	small  []byte
	digest hash.Hash
	size   int64
}

func openStore(options ExportOptions) (*store, error) {
	s := &store{small: []byte{}, digest: sha256.New()}
	if options.File == "" {
		return s, nil
	}
	path, err := filepath.Abs(options.File)
	if err == nil {
		err = overwritable(path, options.Run)
	}
	if err != nil {
		return nil, err
	}
	s.path, s.partial = path, path+".partial"
	s.file, err = os.OpenFile(s.partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	return s, err
}

// overwritable fails when there is a file that this run did not make.
func overwritable(path, run string) error {
	file, err := os.Open(path)
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
	return apierr.New(apierr.Terminal, "%s is there already, and is not this run's: name another file for the bundle", path)
}

// Write keeps what it is given, as far as there is room.
func (s *store) Write(some []byte) (int, error) {
	s.size += int64(len(some))
	s.digest.Write(some)
	if s.small = append(s.small, some...); s.size > inJournal {
		s.small = nil
	}
	switch {
	case s.size > largest:
		return 0, apierr.New(apierr.Terminal, "the bundle is larger than %d MiB", largest>>20)
	case s.file != nil:
		return s.file.Write(some)
	case s.size > inJournal:
		return 0, apierr.New(apierr.Terminal, "the bundle is larger than the %d KiB that are kept in the journal: name a file for it (--bundle)", inJournal>>10)
	}
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
