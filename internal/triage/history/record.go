package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Record adds a run to the folder, which is made if it isn't there, and gives the file. One that says what is there
// already is not written again, and then the file is empty. The history in hand doesn't change.
//
// The line goes into a file of its own, in one write, and is on the disk when Record returns. A file that a crash left
// half written keeps its half, which readers report.
func (h *History) Record(e Entry) (file string, err error) {
	e.Triaged = h.next(e)
	e, raw, err := e.encode()
	if err != nil {
		return "", err
	}
	if before, there := h.runs[e.id()]; there && bytes.Equal(before.Digest, digest(raw)) {
		return "", nil
	}
	name := fileName(e, raw)
	if err := write(h.folder, name, append(raw, '\n')); err != nil {
		return "", fmt.Errorf("recording build %s: %w", e.Build, err)
	}
	return filepath.Join(h.folder, filepath.FromSlash(name)), nil
}

// encode is the entry as it is written. Where examples are too long for a line all together, all are cut alike.
func (e Entry) encode() (Entry, []byte, error) {
	e, err := e.bounded()
	if err != nil {
		return Entry{}, nil, fmt.Errorf("an entry of the history: %w", err)
	}
	for limit := maximumText; ; limit /= 2 {
		raw, err := json.Marshal(e)
		switch {
		case err != nil:
			return Entry{}, nil, fmt.Errorf("encoding an entry of the history: %w", err)
		case len(raw) < maximumLine:
			return e, raw, nil
		case limit == 0:
			return Entry{}, nil, fmt.Errorf("an entry of the history has %d bytes of %d", len(raw), maximumLine)
		}
		for i := range e.Groups {
			e.Groups[i].Example.Text = cut(e.Groups[i].Example.Text, limit)
		}
	}
}

// fileName begins with the month, so that a past one can be put into one file, and with the time, so that a folder is
// in order. What follows tells builds apart, and what is said of them.
func fileName(e Entry, raw []byte) string {
	id, said := sha256.Sum256([]byte(e.Build+"\x00"+e.Run)), sha256.Sum256(raw)
	return path.Join(e.Time.Format("2006-01"), fmt.Sprintf("%s-%s-%s%s", e.Time.Format("20060102T150405Z"),
		hex.EncodeToString(id[:4]), hex.EncodeToString(said[:6]), suffix))
}

func write(folder, name string, raw []byte) (err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil { //nolint:gosec // a share is for all whom the umask lets in
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(path.Dir(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	file, err := root.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	half, err := torn(file)
	if err != nil {
		return err
	}
	if half {
		raw = append([]byte{'\n'}, raw...)
	}
	if _, err := file.Write(raw); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return syncFolder(root, path.Dir(name))
}

// torn says whether a file's last line has no end.
func torn(file *os.File) (bool, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return false, err
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, size-1)
	return last[0] != '\n', err
}

// syncFolder makes a new name last. Not every file system can: the file itself is on the disk then.
func syncFolder(root *os.Root, name string) error {
	folder, err := root.Open(name)
	if err != nil {
		return err
	}
	_ = folder.Sync() // refused on shares and on Windows
	return folder.Close()
}
