package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
)

// File keeps records below a folder of this machine: runs/RUN/journal.jsonl for
// each run, leases/ for the locks. Its lock and its epoch hold on one machine.
type File struct{ dir string }

// NewFile gives the backend in a folder, which it makes when it is first written.
func NewFile(dir string) *File { return &File{dir: dir} }

// Dir is the folder.
func (f *File) Dir() string { return f.dir }

const recordName = "journal.jsonl"

// runName keeps a run's name from being a path.
var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

func (f *File) path(run string) (string, error) {
	if !runName.MatchString(run) {
		return "", &MissingError{Run: run, Where: f.dir}
	}
	return filepath.Join(f.dir, "runs", run, recordName), nil
}

// Create makes the run's folder and an empty record in it.
func (f *File) Create(_ context.Context, run string) error {
	path, err := f.path(run)
	if err != nil {
		return err
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	for _, dir := range []string{folder, filepath.Dir(folder), f.dir} {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// Append writes a line and syncs it to the disk. A torn line that a crash left
// at the end is cut off first.
func (f *File) Append(ctx context.Context, run string, seq int, line []byte) error {
	return f.AppendLines(ctx, run, seq, [][]byte{line})
}

// AppendLines is Append for several lines, synced together.
func (f *File) AppendLines(_ context.Context, run string, _ int, lines [][]byte) error {
	path, err := f.path(run)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	end, err := completeLength(file)
	if err != nil {
		return err
	}
	if err := file.Truncate(end); err != nil {
		return err
	}
	if _, err := file.WriteAt(bytes.Join(lines, nil), end); err != nil {
		return err
	}
	return file.Sync()
}

// completeLength is the length of the file up to its last line feed.
func completeLength(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil {
		return 0, err
	}
	if last[0] == '\n' {
		return info.Size(), nil
	}
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
	return int64(bytes.LastIndexByte(raw, '\n') + 1), err
}

// Read gives the complete lines.
func (f *File) Read(_ context.Context, run string) ([][]byte, error) {
	path, err := f.path(run)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(path)); err == nil {
			return nil, nil // killed while it was created: a record without a line
		}
		return nil, &MissingError{Run: run, Where: f.dir}
	}
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(raw, []byte{'\n'})
	return lines[:len(lines)-1], nil
}

// Runs names the records; names sort by time.
func (f *File) Runs(_ context.Context) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, "runs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, entry := range entries {
		if entry.IsDir() && runName.MatchString(entry.Name()) {
			runs = append(runs, entry.Name())
		}
	}
	sort.Strings(runs)
	return runs, nil
}

func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
