package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// UnsafeError is a place that somebody else could have written to: neither root nor the user of this process.
type UnsafeError struct {
	Path    string
	Problem string
}

func (e *UnsafeError) Error() string { return e.Path + " " + e.Problem }

// maxLinks bounds the symbolic links on one way, as the kernel does.
const maxLinks = 40

// ReadGuarded gives the contents of a regular file of at most limit bytes that nobody but root and the user of this
// process could have written or put there: neither the file nor any folder on its way is another's or can be written
// by others, and what is looked at is what is opened. A symbolic link on the way is followed by the same rule.
//
// The errors are *UnsafeError; fs.ErrNotExist where nothing stands in a guarded place; and those of reading.
func ReadGuarded(path string, limit int64) ([]byte, error) {
	way, err := walk(path, Trace{})
	if err != nil {
		return nil, err
	}
	defer way.close()
	folder, name := way.top(), way.last
	file, opened, err := folder.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// The descriptor that is read is judged, not the name.
	if err := checkGuarded(way.at(way.last), opened); err != nil {
		return nil, err
	}
	return readAll(file, name, limit)
}

// OpenGuarded opens a folder that nobody but root and the user of this process could have written to, by the rule of
// ReadGuarded.
func OpenGuarded(path string, trace Trace) (*Folder, error) {
	way, err := walk(path, trace)
	if err != nil {
		return nil, err
	}
	defer way.close()
	if way.last == "" {
		return Open(string(filepath.Separator), trace)
	}
	return way.enter(way.last, false)
}

// way is the folders that were opened from the root of the file system to a name.
type way struct {
	folders []*Folder
	names   []string
	links   int
	last    string // in the innermost folder; empty for the root of the file system
	info    fs.FileInfo
}

func (w *way) top() *Folder { return w.folders[len(w.folders)-1] }

// at is the path of a name in the innermost folder.
func (w *way) at(name string) string {
	return "/" + filepath.Join(filepath.Join(w.names...), name)
}

func (w *way) close() {
	for _, folder := range w.folders {
		folder.Close()
	}
}

// walk opens every folder on the way to a path, and checks it. The last name is looked at and not opened; it is no
// symbolic link.
func walk(path string, trace Trace) (*way, error) {
	if !knowsOwners {
		return nil, &UnsafeError{path, "can't be judged on this system: run this on Linux or macOS"}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	root, err := Open("/", trace)
	if err != nil {
		return nil, err
	}
	w := &way{folders: []*Folder{root}}
	if err := w.walk(components(absolute)); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *way) walk(rest []string) error {
	err := w.checkTop()
	for len(rest) > 0 && err == nil {
		rest, err = w.step(rest)
	}
	return err
}

// step takes the first name of what is left of the way, and gives what is left then.
func (w *way) step(rest []string) ([]string, error) {
	name := rest[0]
	if name == ".." { // out of a link's target
		if last := len(w.folders) - 1; last > 0 {
			w.folders[last].Close()
			w.folders, w.names = w.folders[:last], w.names[:last-1]
		}
		return rest[1:], nil
	}
	info, err := w.top().Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && w.links > 0 {
		// What a link leads to may merely not be mounted yet: that is not «there is none».
		return nil, &UnsafeError{w.at(name), "is where a symbolic link leads to, and isn't there"}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: w.at(name), Err: bare(err)}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return w.follow(name, info, rest[1:])
	case len(rest) == 1:
		w.last, w.info = name, info
		return nil, w.checkSticky()
	}
	inner, err := w.enter(name, true)
	if err != nil {
		return nil, err
	}
	w.folders, w.names = append(w.folders, inner), append(w.names, name)
	return rest[1:], nil
}

// enter opens a folder in the innermost one, and checks what was opened.
func (w *way) enter(name string, onTheWay bool) (*Folder, error) {
	path := w.at(name)
	inner, err := w.top().Enter(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: bare(err)}
	}
	info, err := inner.root.Stat(".")
	if err == nil {
		err = checkFolder(path, info, onTheWay)
	}
	if err != nil {
		inner.Close()
		return nil, err
	}
	return inner, nil
}

// checkTop checks the innermost folder as the one that a file or a link lies in.
func (w *way) checkTop() error {
	info, err := w.top().root.Stat(".")
	if err != nil {
		return err
	}
	return checkGuarded(w.at(""), info)
}

// checkSticky refuses a file in a folder such as /tmp, which is safe as a way to a folder alone: a file of root's may
// be put there by others as a hard link.
func (w *way) checkSticky() error {
	if w.info.IsDir() {
		return nil
	}
	return w.checkTop()
}

func (w *way) follow(name string, info fs.FileInfo, rest []string) ([]string, error) {
	path := w.at(name)
	if w.links++; w.links > maxLinks {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
	}
	if err := w.checkTop(); err != nil {
		return nil, err
	}
	if owner, ok := ownedByUs(info); !ok {
		return nil, &UnsafeError{path, fmt.Sprintf("belongs to user %d", owner)}
	}
	target, err := w.top().root.Readlink(name)
	if err != nil {
		return nil, err
	}
	if filepath.IsAbs(target) {
		for _, folder := range w.folders[1:] {
			folder.Close()
		}
		w.folders, w.names = w.folders[:1], nil
	}
	return append(components(target), rest...), nil
}

// components are the names of a path; ".." stays, for only the walk knows what it leads to.
func components(path string) []string {
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

// checkFolder is checkGuarded for a folder. On the way to another folder the sticky bit will do: in such a folder
// nobody can rename or remove what isn't theirs.
func checkFolder(path string, info fs.FileInfo, onTheWay bool) error {
	if onTheWay && info.Mode()&fs.ModeSticky != 0 {
		if owner, ok := ownedByUs(info); !ok {
			return &UnsafeError{path, fmt.Sprintf("belongs to user %d", owner)}
		}
		return nil
	}
	return checkGuarded(path, info)
}

func checkGuarded(path string, info fs.FileInfo) error {
	if owner, ok := ownedByUs(info); !ok {
		return &UnsafeError{path, fmt.Sprintf("belongs to user %d. hint: chown root %s", owner, path)}
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return &UnsafeError{path, fmt.Sprintf("can be written by others (mode %#o). hint: chmod go-w %s", mode, path)}
	}
	return nil
}

// bare is an error without the path that its place in a folder gave it.
func bare(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
