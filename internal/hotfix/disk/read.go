package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is a name that belongs to a folder, a link, a pipe or a device.
var ErrNotRegular = errors.New("it is not a regular file")

// Lstat describes what stands under a name, a symbolic link itself included.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) { return f.root.Lstat(name) }

// OpenRegular opens a regular file for reading. It never waits, as opening a pipe
// would, and it follows no symbolic link.
func (f *Folder) OpenRegular(name string) (*os.File, fs.FileInfo, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	opened, err := file.Stat()
	if err == nil && (!opened.Mode().IsRegular() || !os.SameFile(seen, opened)) {
		err = &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, opened, nil
}

// Read gives the contents of a regular file of at most limit bytes.
func (f *Folder) Read(name string, limit int64) ([]byte, error) {
	file, _, err := f.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, name, limit)
}

func readAll(file *os.File, name string, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(raw)) > limit:
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return raw, nil
}

// Self opens the folder itself, as it can be locked.
func (f *Folder) Self() (*os.File, error) { return f.root.Open(".") }

// Names lists what is in the folder, sorted.
func (f *Folder) Names() ([]string, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}
