package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"

	"salve/internal/apierr"
)

// File keeps records below a folder of this machine: runs/RUN/journal.jsonl for
// each run with its exports beside it, leases/ for the locks. Its lock and its
// epoch hold on one machine.
type File struct {
	keyFile
	dir  string
	disk disk

	mu sync.Mutex
	// ends are where the lines of records end that were read or written here.
	ends map[string][]int64
}

// NewFile gives the store in a folder, which it makes when it is first written.
// Its key is in the folder too, for those whose folder is theirs alone.
func NewFile(dir string) *File { return NewFileWithKey(dir, filepath.Join(dir, "key")) }

// NewFileWithKey gives the store in a folder that others may write, sealed with the
// key of a file that they may not. Both are made when they are first written.
func NewFileWithKey(dir, keyFile string) *File {
	return &File{keyFile: newKeyFile(keyFile), dir: dir, disk: folder(dir), ends: map[string][]int64{}}
}

// Dir is the folder.
func (f *File) Dir() string { return f.dir }

// Location names the folder and the host.
func (f *File) Location() string {
	path, err := filepath.Abs(f.dir)
	if err != nil {
		path = f.dir
	}
	host, _ := os.Hostname() // one without a name is told by none
	return "folder " + path + " on host " + host
}

const (
	runsFolder = "runs"
	recordName = "journal.jsonl"
	exportsDir = "exports"
	// deleted begins the names of what is on its way out.
	deleted = ".deleted-"
)

// runName keeps a run's name from being a path.
var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// CheckRunName refuses what can't be the name of a run, and shows no more of it than its beginning.
func CheckRunName(run string) error {
	if runName.MatchString(run) {
		return nil
	}
	const shown = 40
	if len(run) > shown {
		run = run[:shown] + "…"
	}
	return apierr.New(apierr.Terminal,
		"invalid run name %q: letters, digits, ., _ and -, at most 128, such as 20261122-021300-4f1a2b", run)
}

func (f *File) folder(run string) (string, error) {
	if !runName.MatchString(run) {
		return "", &MissingError{Run: run, Where: f.dir}
	}
	return filepath.Join(runsFolder, run), nil
}

// Create makes the run's folder and an empty record in it.
func (f *File) Create(_ context.Context, run string) error {
	folder, err := f.folder(run)
	if err != nil {
		return err
	}
	if err := f.disk.Make(); err != nil {
		return err
	}
	if err := f.disk.Mkdir(runsFolder); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := f.disk.Mkdir(folder); err != nil {
		return err
	}
	file, err := f.disk.Open(filepath.Join(folder, recordName), creating)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	for _, dir := range []string{folder, runsFolder, "."} {
		if err := f.disk.SyncDir(dir); err != nil {
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
func (f *File) AppendLines(_ context.Context, run string, seq int, lines [][]byte) error {
	folder, err := f.folder(run)
	if err != nil {
		return err
	}
	file, err := f.disk.Open(filepath.Join(folder, recordName), writing)
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
	if err := file.Sync(); err != nil {
		return err
	}
	f.remember(run, seq, end, lines)
	return nil
}

// remember notes where lines end, if it is known where those before them do.
func (f *File) remember(run string, seq int, end int64, lines [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ends := f.ends[run]
	if len(ends) != seq-1 || seq > 1 && ends[seq-2] != end {
		delete(f.ends, run)
		return
	}
	for _, line := range lines {
		end += int64(len(line))
		ends = append(ends, end)
	}
	f.ends[run] = ends
}

// completeLength is the length of the file up to its last line feed.
func completeLength(file diskFile) (int64, error) {
	size, err := file.Size()
	if err != nil || size == 0 {
		return 0, err
	}
	if size > MaxRecord {
		return 0, fmt.Errorf("the record of %d bytes is above the limit of %d", size, MaxRecord)
	}
	// A torn line is no longer than the longest batch; the pieces are read from the
	// end on.
	piece := make([]byte, 64<<10)
	for end := size; end > 0; {
		from := max(0, end-int64(len(piece)))
		read, err := file.ReadAt(piece[:end-from], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if at := bytes.LastIndexByte(piece[:read], '\n'); at >= 0 {
			return from + int64(at) + 1, nil
		}
		end = from
	}
	return 0, nil
}

// Read gives the complete lines.
func (f *File) Read(_ context.Context, run string) ([][]byte, error) {
	folder, err := f.folder(run)
	if err != nil {
		return nil, err
	}
	raw, err := readBounded(f.disk, filepath.Join(folder, recordName), MaxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := f.disk.Lstat(folder); err == nil && info.IsDir() {
			return nil, nil // killed while it was created: a record without a line
		}
		return nil, &MissingError{Run: run, Where: f.dir}
	}
	if err != nil {
		return nil, &BrokenError{Run: run, Reason: err.Error()}
	}
	lines := bytes.Split(raw, []byte{'\n'})
	lines = lines[:len(lines)-1]
	var ends []int64
	var end int64
	for _, line := range lines {
		end += int64(len(line)) + 1
		ends = append(ends, end)
	}
	f.mu.Lock()
	f.ends[run] = ends
	f.mu.Unlock()
	return lines, nil
}

// Torn tells whether something stands behind the last line feed of a record.
func (f *File) Torn(_ context.Context, run string) (bool, error) {
	folder, err := f.folder(run)
	if err != nil {
		return false, err
	}
	file, err := f.disk.Open(filepath.Join(folder, recordName), reading)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return false, err
	}
	end, err := completeLength(file)
	return end < size, err
}

// ReadLine reads one line where it was seen to be. What is there may be another by
// now: that is for the caller to verify.
func (f *File) ReadLine(ctx context.Context, run string, seq int) ([]byte, error) {
	from, to, known := f.lineAt(run, seq)
	if !known {
		if _, err := f.Read(ctx, run); err != nil {
			return nil, err
		}
		if from, to, known = f.lineAt(run, seq); !known {
			return nil, &BrokenError{Run: run, Line: seq, Reason: "the line is missing"}
		}
	}
	folder, err := f.folder(run)
	if err != nil {
		return nil, err
	}
	file, err := f.disk.Open(filepath.Join(folder, recordName), reading)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{Run: run, Where: f.dir}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if to-from > MaxLine {
		return nil, &BrokenError{Run: run, Line: seq, Reason: "the line is longer than any"}
	}
	raw := make([]byte, to-from-1)
	if _, err := file.ReadAt(raw, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return raw, nil
}

func (f *File) lineAt(run string, seq int) (from, to int64, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ends := f.ends[run]
	if seq < 1 || seq > len(ends) {
		return 0, 0, false
	}
	if seq > 1 {
		from = ends[seq-2]
	}
	return from, ends[seq-1], true
}

// Runs names the records; names sort by time.
func (f *File) Runs(_ context.Context) ([]string, error) {
	entries, err := f.disk.ReadDir(runsFolder)
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

// PutExport keeps data in a file beside the record.
func (f *File) PutExport(ctx context.Context, run, name string, data []byte) error {
	kept, err := f.Export(ctx, run, name)
	switch {
	case err == nil && bytes.Equal(kept, data):
		return nil
	case err == nil:
		return apierr.New(apierr.Conflict, "conflict: export %q of run %q is there with other data", name, run)
	case apierr.ClassOf(err) != apierr.Missing:
		return err
	}
	folder, err := f.folder(run)
	if err != nil {
		return err
	}
	exports := filepath.Join(folder, exportsDir)
	if err := f.disk.Mkdir(exports); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := replace(f.disk, filepath.Join(exports, name), data); err != nil {
		return err
	}
	return errors.Join(f.disk.SyncDir(exports), f.disk.SyncDir(folder))
}

// Export reads what PutExport kept.
func (f *File) Export(_ context.Context, run, name string) ([]byte, error) {
	folder, err := f.folder(run)
	if err != nil {
		return nil, err
	}
	if !runName.MatchString(name) {
		return nil, apierr.New(apierr.Terminal, "invalid export %q", name)
	}
	raw, err := readBounded(f.disk, filepath.Join(folder, exportsDir, name), MaxExport)
	if errors.Is(err, fs.ErrNotExist) {
		missing := &MissingError{Run: run, Where: filepath.Join(f.dir, folder, exportsDir, name)}
		return nil, &apierr.Error{Class: apierr.Missing, Err: missing}
	}
	return raw, err
}

// Delete takes the record out of the list at once, then removes it. What a crash
// left of one that was deleted before is removed too.
func (f *File) Delete(_ context.Context, run string) error {
	folder, err := f.folder(run)
	if err != nil {
		return err
	}
	err = f.disk.Rename(folder, filepath.Join(runsFolder, deleted+run))
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{Run: run, Where: f.dir}
	}
	if err == nil {
		err = f.disk.SyncDir(runsFolder)
	}
	if err != nil {
		return err
	}
	entries, err := f.disk.ReadDir(runsFolder)
	for _, left := range entries {
		if !strings.HasPrefix(left.Name(), deleted) {
			continue
		}
		err = errors.Join(err, f.disk.RemoveAll(filepath.Join(runsFolder, left.Name())))
	}
	f.mu.Lock()
	delete(f.ends, run)
	f.mu.Unlock()
	return err
}
