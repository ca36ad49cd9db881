package registry

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// layoutFiles are the files of an OCI layout: https://github.com/opencontainers/image-spec/blob/main/image-layout.md
type layoutFiles interface {
	// open gives a file, and its size; the error is fs.ErrNotExist where there is none.
	open(name string) (io.ReadCloser, int64, error)
}

// folderFiles are those in a folder, and nothing that links lead to outside of it.
type folderFiles string

func (f folderFiles) open(name string) (io.ReadCloser, int64, error) {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, errors.Join(err, file.Close(), fmt.Errorf("%s is no regular file: %w", name, fs.ErrNotExist))
	}
	return file, info.Size(), nil
}

// archiveFiles are those in a tar file. They are not unpacked.
type archiveFiles struct {
	path  string
	parts map[string]section
}

type section struct{ from, size int64 }

// maxParts bounds how many files an archive may have.
const maxParts = 100_000

func readArchive(named string) (*archiveFiles, error) {
	file, err := os.Open(named) //nolint:gosec // G304: the user names it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all := &archiveFiles{path: named, parts: map[string]section{}}
	// The reader reads from the file what it has to, and no more: after a header the file is where the content begins.
	archive := tar.NewReader(file)
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s is no tar file, or a torn one: %w", named, err)
		case header.Typeflag != tar.TypeReg:
			continue
		case len(all.parts) == maxParts:
			return nil, fmt.Errorf("%s has more than %d files", named, maxParts)
		}
		from, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		all.parts[path.Clean(header.Name)] = section{from, header.Size}
	}
}

func (a *archiveFiles) open(name string) (io.ReadCloser, int64, error) {
	part, found := a.parts[name]
	if !found {
		return nil, 0, fs.ErrNotExist
	}
	file, err := os.Open(a.path) //nolint:gosec // G304: the user names it
	if err != nil {
		return nil, 0, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, part.from, part.size), file}, part.size, nil
}
