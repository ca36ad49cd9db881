package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// pipePatience is how long is waited for what comes from a pipe, such as <(command) of a shell.
const pipePatience = 30 * time.Second

// ReadContent reads a file that a user named without parsing it, and no more of it than is enough to say that it is too
// large. It does not wait for whoever may once write to a pipe.
func ReadContent(path string) ([]byte, error) { return readWithin(path, pipePatience) }

// readWithin reads a file, and from a pipe for no longer than some time.
func readWithin(path string, patience time.Duration) ([]byte, error) {
	opened, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	isPipe := info.Mode()&os.ModeNamedPipe != 0
	if isPipe {
		if err := opened.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	var read bytes.Buffer
	read.Grow(int(min(max(info.Size(), 0), maximumSize)) + bytes.MinRead)
	_, err = read.ReadFrom(io.LimitReader(opened, maximumSize+1))
	content := read.Bytes()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("reading %s: timed out: it is a pipe whose writer did not end within %s", path, patience)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", path, err)
	case isPipe && len(content) == 0:
		return nil, fmt.Errorf("reading %s: it is a pipe that nobody writes to", path)
	}
	return content, nil
}

// ReadNamed reads a file that a pipeline names, if it is one: reading from anything
// else might never end. Of more than 16 MiB it gives the beginning.
func ReadNamed(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return ReadContent(path)
}
