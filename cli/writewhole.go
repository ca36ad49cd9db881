package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// writeWhole writes a file that is there whole or not at all: what stood there before stays until the new one is
// finished. A link to a file stays one, and a file keeps its permissions; a new one gets those that the umask leaves.
// What is no regular file, such as /dev/null or a pipe, can't be replaced: it is written into.
func writeWhole(path string, write func(*os.File) error) (err error) {
	place, mode, err := placeOf(path)
	switch {
	case err != nil:
		return err
	case !mode.IsRegular():
		return writeInto(path, write)
	}
	file, err := os.OpenFile(filepath.Join(filepath.Dir(place), "."+filepath.Base(place)+"-"+rand.Text()),
		os.O_RDWR|os.O_CREATE|os.O_EXCL, mode.Perm())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("folder %s not found. hint: mkdir -p %[1]s", filepath.Dir(place))
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if _, missing := os.Stat(place); missing == nil {
		err = file.Chmod(mode.Perm()) // the umask may have cleared bits at create
	}
	if err := errors.Join(err, write(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), place)
}

// placeOf follows links to the file that is to be replaced, and gives its mode, or that of a new one.
func placeOf(path string) (string, fs.FileMode, error) {
	const created = 0o666 // before the umask, as for every file that a program makes
	if isDescriptor(path) {
		return path, fs.ModeNamedPipe, nil
	}
	place, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return "", 0, fmt.Errorf("%s is a link to a file that there is not", path)
		}
		return path, created, nil
	}
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(place)
	switch {
	case err != nil:
		return "", 0, err
	case info.IsDir():
		return "", 0, fmt.Errorf("%s is a directory", path)
	}
	return place, info.Mode(), nil
}

// isDescriptor tells whether a path names a descriptor of this process, whatever file is behind it.
func isDescriptor(path string) bool {
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") ||
		strings.HasPrefix(path, "/proc/self/fd/")
}

func writeInto(path string, write func(*os.File) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
