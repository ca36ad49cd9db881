package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// disk is a folder as the file journal uses it. Names are relative to it. What was
// written, renamed or made is only certain to outlive the machine once it was
// synced: files by Sync, names by SyncDir.
type disk interface {
	// Make makes the folder itself, durably, where it is not there.
	Make() error
	// Mkdir makes a folder in it.
	Mkdir(name string) error
	// Open opens a regular file, and no link to one.
	Open(name string, mode openMode) (diskFile, error)
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Rename(from, to string) error
	// Link gives a file a second name; it fails when that is taken.
	Link(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	SyncDir(name string) error
	// Lock takes the lock on a file, which the operating system releases when the
	// process ends. ours is false while another holds it.
	Lock(name string) (release func() error, ours bool, err error)
	// Boot names the start of the machine, since which nothing that was written is
	// lost, synced or not; empty where it has no name.
	Boot() string
}

// openMode says what a file is opened for.
type openMode int

const (
	reading openMode = iota
	writing
	// creating fails when there is a file of that name.
	creating
)

// diskFile is an open regular file.
type diskFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
}

// folder is a disk in a folder of this machine. It never leaves the folder, and it
// is opened anew for each use: what is put in its place is another one.
type folder string

// Make makes the folder and those above it. The name of each new one is synced in
// the folder that holds it.
func (f folder) Make() error { return makeFolders(string(f), os.Mkdir, syncFolder) }

func makeFolders(path string, mkdir func(string, fs.FileMode) error, sync func(string) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	err = mkdir(path, 0o700)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		if err := makeFolders(parent, mkdir, sync); err != nil {
			return err
		}
		err = mkdir(path, 0o700)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return sync(filepath.Dir(path))
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(syncNames(dir), dir.Close())
}

// in does something in the folder.
func (f folder) in(do func(*os.Root) error) error {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return err
	}
	return errors.Join(do(root), root.Close())
}

func (f folder) Mkdir(name string) error {
	return f.in(func(root *os.Root) error { return root.Mkdir(name, 0o700) })
}

func (f folder) Lstat(name string) (info fs.FileInfo, err error) {
	err = f.in(func(root *os.Root) error {
		info, err = root.Lstat(name)
		return err
	})
	return info, err
}

func (f folder) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.in(func(root *os.Root) error {
		dir, err := root.Open(name)
		if err != nil {
			return err
		}
		entries, err = dir.ReadDir(-1)
		return errors.Join(err, dir.Close())
	})
	return entries, err
}

func (f folder) Rename(from, to string) error {
	return f.in(func(root *os.Root) error { return root.Rename(from, to) })
}

func (f folder) Link(from, to string) error {
	return f.in(func(root *os.Root) error { return root.Link(from, to) })
}

func (f folder) Remove(name string) error {
	return f.in(func(root *os.Root) error { return root.Remove(name) })
}

func (f folder) RemoveAll(name string) error {
	return f.in(func(root *os.Root) error { return root.RemoveAll(name) })
}

func (f folder) SyncDir(name string) error {
	return f.in(func(root *os.Root) error {
		dir, err := root.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(syncNames(dir), dir.Close())
	})
}

func (f folder) Open(name string, mode openMode) (file diskFile, err error) {
	err = f.in(func(root *os.Root) error {
		file, err = openRegular(root, name, mode)
		return err
	})
	return file, err
}

// opener is what it takes of a folder to open a file in it.
type opener interface {
	Lstat(name string) (fs.FileInfo, error)
	OpenFile(name string, flags int, mode fs.FileMode) (*os.File, error)
}

// openRegular opens a file that nobody else can have put in the place of another:
// no link of either kind, no device, no pipe. Nothing is truncated by opening it.
func openRegular(root opener, name string, mode openMode) (*regular, error) {
	flags := os.O_RDONLY
	if mode != reading {
		flags = os.O_RDWR
	}
	if mode == creating {
		file, err := root.OpenFile(name, flags|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		return &regular{file}, nil
	}
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := isRegular(name, seen, mode); err != nil {
		return nil, err
	}
	// Not to wait for the other end of a pipe that was put there meanwhile.
	file, err := root.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(seen, opened) {
		err = fmt.Errorf("%s: another file took its place", name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &regular{file}, nil
}

func isRegular(name string, seen fs.FileInfo, mode openMode) error {
	if kind := kindOf(seen); kind != "" {
		return &plantedError{name, "not a regular file, but a " + kind}
	}
	if names := namesOf(seen); names > 1 && mode == writing {
		// A second name is how another file of ours gets in here to be written to.
		return &plantedError{name, fmt.Sprintf("the file has %d names", names)}
	}
	return nil
}

// plantedError says that what stands in a folder is nothing that Salve puts there.
type plantedError struct{ name, what string }

func (e *plantedError) Error() string { return e.name + ": " + e.what }

// kindOf names what is no regular file.
func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	default:
		return "special file (" + mode.Type().String() + ")"
	}
}

func (f folder) Lock(name string) (release func() error, ours bool, err error) {
	err = f.in(func(root *os.Root) error {
		release, ours, err = lockIn(root, name, lockFile)
		return err
	})
	return release, ours, err
}

func (f folder) Boot() string { return boot() }

// boot is the kernel's name for the start of this machine
// (https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html, random/boot_id).
func boot() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

func lockIn(root opener, name string, lock func(*os.File) (ours bool, err error)) (
	release func() error, ours bool, err error,
) {
	file, err := openRegular(root, name, creating)
	if errors.Is(err, fs.ErrExist) {
		file, err = openRegular(root, name, writing)
	}
	if err != nil {
		return nil, false, err
	}
	if ours, err = lock(file.File); err != nil || !ours {
		return nil, false, errors.Join(err, file.Close())
	}
	return file.Close, true, nil
}

// regular is an open regular file.
type regular struct{ *os.File }

// Size is the file's length.
func (r *regular) Size() (int64, error) {
	info, err := r.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// replace puts content in the place of a file, at once and durably but for the
// name: a crash leaves what was there or what is new.
func replace(d disk, name string, content []byte) error {
	next := name + ".next"
	if err := writeNew(d, next, content); err != nil {
		return err
	}
	return d.Rename(next, name)
}

// writeNew writes a file of its own, durably but for its name. What a crash left
// of an attempt before is removed.
func writeNew(d disk, name string, content []byte) error {
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := d.Open(name, creating)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(content, 0)
	return errors.Join(err, file.Sync(), file.Close())
}

// readBounded reads a whole file that may not be longer than a limit.
func readBounded(d disk, name string, limit int64) ([]byte, error) {
	file, err := d.Open(name, reading)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, fmt.Errorf("%s: %d bytes are above the limit of %d", name, size, limit)
	}
	raw := make([]byte, size)
	n, err := file.ReadAt(raw, 0)
	if errors.Is(err, io.EOF) {
		err = nil // it became shorter, or is empty
	}
	return raw[:n], err
}
