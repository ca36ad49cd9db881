//go:build linux

package hotfixtest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"salve/internal/hotfix/disk"
)

// Power records what is done below a folder, and what of it outlives a power cut:
// the contents of files that were synced, and the names in folders that were. What
// was not synced is lost, kept or torn.
type Power struct {
	t   testing.TB
	dir string
	// objects are the files that were seen, by inode. They are kept open, so that no
	// inode is used again.
	objects map[uint64]*object
	// durable are the names that outlive a power cut.
	durable map[string]name
	cuts    []Cut
	writes  int
	mark    int
}

type object struct {
	file         *os.File
	data, synced []byte
}

// name is a file or a folder under its name; a folder has no inode here.
type name struct {
	inode uint64
	mode  fs.FileMode
}

// Cut is the disk after a power cut.
type Cut struct {
	// At is the effect before which the power was cut, and how the disk took it.
	At string
	// Mark is the last that was set before it.
	Mark  int
	names map[string]name
	data  map[string][]byte
}

// RecordPower begins with all that is below a folder on the disk.
func RecordPower(t testing.TB, dir string) *Power {
	t.Helper()
	p := &Power{t: t, dir: dir, objects: map[uint64]*object{}}
	p.durable = p.look()
	for _, one := range p.objects {
		one.synced = one.data
	}
	t.Cleanup(func() {
		for _, one := range p.objects {
			_ = one.file.Close()
		}
	})
	return p
}

// Trace watches a folder for the recorder.
func (p *Power) Trace() disk.Trace { return disk.Trace{Before: p.before, Sync: p.sync} }

// Cuts are the disks after a power cut before each effect and after the last one.
// Of a file's many writes in a row some stand for all.
func (p *Power) Cuts() []Cut {
	p.before("the end", "")
	return p.cuts
}

// Mark sets down that something has happened that the disk does not show. The power is cut there, too.
func (p *Power) Mark(mark int, what string) {
	p.mark = mark
	p.before(what, "")
}

func (p *Power) before(effect, file string) {
	if effect == "write" {
		if p.writes++; p.writes%16 != 2 {
			return
		}
	}
	names, at := p.look(), effect+" "+file
	p.cuts = append(p.cuts,
		p.cut("before "+at+", nothing unsynced is left", p.durable, func(o *object) []byte { return o.synced }),
		p.cut("before "+at+", names are left without their data", names, func(o *object) []byte { return o.synced }),
		p.cut("before "+at+", writes are torn", names, (*object).torn))
}

func (o *object) torn() []byte {
	if bytes.Equal(o.data, o.synced) {
		return o.data
	}
	return o.data[:len(o.data)/2]
}

func (p *Power) cut(at string, names map[string]name, left func(*object) []byte) Cut {
	c := Cut{At: at, Mark: p.mark, names: map[string]name{}, data: map[string][]byte{}}
	for path, one := range names {
		c.names[path] = one
		if !one.mode.IsDir() {
			c.data[path] = left(p.objects[one.inode])
		}
	}
	return c
}

// sync is what outlives a power cut from now on.
func (p *Power) sync(file *os.File) error {
	names := p.look()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		one := p.objects[inodeOf(info)]
		one.synced = one.data
		return nil
	}
	for path := range p.durable {
		if p.isIn(path, info) {
			delete(p.durable, path)
		}
	}
	for path, one := range names {
		if p.isIn(path, info) {
			p.durable[path] = one
		}
	}
	return nil
}

// isIn tells whether a path is directly in a folder.
func (p *Power) isIn(path string, folder fs.FileInfo) bool {
	info, err := os.Stat(filepath.Join(p.dir, filepath.Dir(path)))
	return err == nil && os.SameFile(info, folder)
}

// look reads all that a process sees below the folder.
func (p *Power) look() map[string]name {
	p.t.Helper()
	names := map[string]name{}
	err := filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || path == p.dir {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(p.dir, path)
		if err != nil || info.IsDir() {
			names[below] = name{mode: info.Mode()}
			return err
		}
		names[below] = name{inode: inodeOf(info), mode: info.Mode()}
		return p.read(path, info)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return names
}

func (p *Power) read(path string, info fs.FileInfo) error {
	one := p.objects[inodeOf(info)]
	if one == nil {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		one = &object{file: file}
		p.objects[inodeOf(info)] = one
	}
	raw := make([]byte, info.Size())
	if _, err := one.file.ReadAt(raw, 0); err != nil && len(raw) > 0 {
		return err
	}
	if !bytes.Equal(raw, one.data) {
		one.data = raw
	}
	return nil
}

func inodeOf(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// Restore makes a folder as the disk is when the power is back.
func (c Cut) Restore(t testing.TB, dir string) {
	t.Helper()
	var paths []string
	for path := range c.names {
		paths = append(paths, path)
	}
	slices.Sort(paths) // a folder comes before what is in it
	for _, path := range paths {
		at, one := filepath.Join(dir, path), c.names[path]
		if _, err := os.Stat(filepath.Dir(at)); err != nil {
			continue // its folder is lost
		}
		var err error
		if one.mode.IsDir() {
			err = os.Mkdir(at, 0o700)
		} else {
			err = os.WriteFile(at, c.data[path], 0o600)
		}
		if err := errors.Join(err, os.Chmod(at, one.mode.Perm())); err != nil {
			t.Fatal(err)
		}
	}
}
