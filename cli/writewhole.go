package cli

import (
	"errors"
	"os"
	"path/filepath"
)

// writeWhole writes a file that is there whole or not at all: what stood there before stays until the new one is
// finished.
func writeWhole(path string, write func(*os.File) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(write(file), file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
