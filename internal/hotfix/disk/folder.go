package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Trace watches what is done to a disk. The zero value watches nothing.
type Trace struct {
	// Before is told of every effect right before it is made.
	Before func(effect, name string)
	// Sync waits until the disk has a file's contents or a folder's names; nil for
	// the system's own.
	Sync func(*os.File) error
}

// Folder is an open directory. Names in it are single components of a path; what
// is done in it stays in it, wherever it is moved.
type Folder struct {
	root  *os.Root
	trace Trace
}

// Open opens the folder at path, symbolic links on the way allowed.
func Open(path string, trace Trace) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if trace.Before == nil {
		trace.Before = func(string, string) {}
	}
	if trace.Sync == nil {
		trace.Sync = (*os.File).Sync
	}
	return &Folder{root: root, trace: trace}, nil
}

// MakeAll opens the folder at path, and makes it and those above it where they are
// not there, durably.
func MakeAll(path string, mode fs.FileMode, trace Trace) (*Folder, error) {
	folder, err := Open(path, trace)
	if above := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && above != path {
		outer, err := MakeAll(above, mode, trace)
		if err != nil {
			return nil, err
		}
		defer outer.Close()
		if _, err := outer.Make(filepath.Base(path), mode); err != nil {
			return nil, err
		}
		return outer.Enter(filepath.Base(path))
	}
	return folder, err
}

// Close gives the folder up. It loses nothing.
func (f *Folder) Close() { _ = f.root.Close() }

// Enter opens a folder in this one; a symbolic link is refused.
func (f *Folder) Enter(name string) (*Folder, error) {
	seen, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, &fs.PathError{Op: "enter", Path: name, Err: syscall.ENOTDIR}
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// What was opened has to be what was seen: a link may have taken its place.
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = &fs.PathError{Op: "enter", Path: name, Err: syscall.ELOOP}
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return &Folder{root: root, trace: f.trace}, nil
}

// Make creates a folder in this one, unless it is there; made tells which.
func (f *Folder) Make(name string, mode fs.FileMode) (made bool, err error) {
	f.trace.Before("make", name)
	switch err := f.root.Mkdir(name, mode); {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := f.root.Chmod(name, mode); err != nil { // the umask has had its say
		return true, err
	}
	return true, f.sync(name)
}

// Create writes a file that must not exist yet, with exactly this mode, and waits
// until the disk has its contents; its name is certain after Flush or Rename. What
// it could not write whole, it removes.
func (f *Folder) Create(name string, content io.Reader, mode fs.FileMode) error {
	f.trace.Before("create", name)
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = f.fill(file, name, content, mode)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = f.root.Remove(name) // the error that is given back matters more
	}
	return err
}

func (f *Folder) fill(file *os.File, name string, content io.Reader, mode fs.FileMode) error {
	if _, err := io.Copy(traced{file, f.trace, name}, content); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f.trace.Before("mode", name)
	if err := file.Chmod(mode); err != nil {
		return err
	}
	f.trace.Before("sync", name)
	return f.trace.Sync(file)
}

type traced struct {
	io.Writer
	trace Trace
	name  string
}

func (t traced) Write(chunk []byte) (int, error) {
	t.trace.Before("write", t.name)
	return t.Writer.Write(chunk)
}

// Rename puts a file at another name of this folder, replacing what is there, and
// waits until the disk has it.
func (f *Folder) Rename(from, to string) error {
	f.trace.Before("rename", to)
	if err := f.root.Rename(from, to); err != nil {
		return err
	}
	return f.sync(to)
}

// Replace puts a file in place, whole or not at all. Two writers of one name must
// not be at work at once.
func (f *Folder) Replace(name string, content io.Reader, mode fs.FileMode) error {
	part := Part(name)
	if err := f.Remove(part); err != nil {
		return err
	}
	if err := f.Create(part, content, mode); err != nil {
		return err
	}
	return f.Rename(part, name)
}

// Part is the name under which a file is written before it counts. Its leftover
// after a crash is removed by the next one who writes that file.
func Part(name string) string { return "." + name + ".part" }

// Own gives a file to a user and a group, with exactly this mode.
func (f *Folder) Own(name string, user, group int, mode fs.FileMode) error {
	f.trace.Before("own", name)
	if err := f.root.Lchown(name, user, group); err != nil {
		return err
	}
	return f.root.Chmod(name, mode) // a change of owner may have taken bits away
}

// Remove deletes a file or an empty folder; that it is gone already is no error.
func (f *Folder) Remove(name string) error {
	if _, err := f.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.trace.Before("remove", name)
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.sync(name)
}

// Flush waits until the disk has the names of what was created.
func (f *Folder) Flush() error { return f.sync(".") }

// Clear deletes a name with all that is below it.
func (f *Folder) Clear(name string) error {
	f.trace.Before("clear", name)
	return f.root.RemoveAll(name)
}

// sync waits until the disk has the folder's names.
func (f *Folder) sync(changed string) error {
	f.trace.Before("sync folder of", changed)
	self, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	return f.trace.Sync(self)
}

// TryLock keeps other processes that lock this folder out until release is called or this process ends. It does not
// wait: locked tells whether the lock was to be had. It writes nothing, so a read-only disk has locks too.
func (f *Folder) TryLock() (release func(), locked bool, err error) {
	self, err := f.root.Open(".")
	if err != nil {
		return nil, false, err
	}
	switch locked, err := lockFolder(self); {
	case err != nil:
		return nil, false, errors.Join(&fs.PathError{Op: "lock", Path: self.Name(), Err: err}, self.Close())
	case !locked:
		return nil, false, self.Close()
	}
	return func() { _ = self.Close() }, true, nil
}
