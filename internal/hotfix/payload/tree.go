//go:build linux

package payload

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/protect"
)

// Tree is the file system that payloads go to, and what was done to it. A caller
// sees to it that one process at a time works on it.
type Tree struct {
	Root  string     // what the paths of a payload are below; / on a node
	State string     // the folder of the records and of the previous files
	Trace disk.Trace // watches what is done to the disk
	// Protected are never written to, whatever the root is and whatever is allowed.
	Protected []protect.Place
}

// unfinished is the name of a file before it counts.
func unfinished(name string) string { return disk.Part(name) }

// survey looks where the protected places are.
func (t Tree) survey() (*protect.Map, error) { return protect.Survey(t.Protected) }

// check refuses a file of a payload that leads to a protected place, itself or by the
// name under which it is written first.
func (t Tree) check(protected *protect.Map, file string) error {
	folder, name := path.Split(file)
	for _, one := range []string{file, folder + unfinished(name)} {
		if err := protected.Check(filepath.Join(t.Root, one)); err != nil {
			return err
		}
	}
	return nil
}

// openState opens the state folder, and makes it when it isn't there.
func (t Tree) openState() (*disk.Folder, error) { return disk.MakeAll(t.State, 0o700, t.Trace) }

// reach opens the folder of a file. Every component below the root is entered by
// its own name, so that no symbolic link is followed, not even one that is put
// there meanwhile.
func (t Tree) reach(file string) (*disk.Folder, string, error) {
	folder, err := disk.Open(t.Root, t.Trace)
	if err != nil {
		return nil, "", err
	}
	for _, component := range components(path.Dir(file)) {
		inner, err := folder.Enter(component)
		folder.Close()
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", file, noLink(err))
		}
		folder = inner
	}
	return folder, path.Base(file), nil
}

func components(folder string) []string {
	return strings.FieldsFunc(folder, func(r rune) bool { return r == '/' })
}

func noLink(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("%w (symbolic links are not followed)", err)
	}
	return err
}

// missing lists the folders that a file needs and that are not there, the outer
// before the inner.
func (t Tree) missing(file string) ([]string, error) {
	for folder := path.Dir(file); ; folder = path.Dir(folder) {
		reached, _, err := t.reach(folder + "/-")
		if err == nil {
			reached.Close()
			return outward(folder, path.Dir(file)), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || folder == "/" {
			return nil, err
		}
	}
}

// outward lists the folders below outer on the way to inner.
func outward(outer, inner string) []string {
	var folders []string
	for ; inner != outer; inner = path.Dir(inner) {
		folders = append([]string{inner}, folders...)
	}
	return folders
}

// standing is the file that is in place now.
type standing struct {
	content     []byte
	mode        fs.FileMode
	user, group int
}

// inspect gives the file at a path, or nil where there is none. Anything but a
// regular file is an error.
func (t Tree) inspect(file string) (*standing, error) {
	folder, name, err := t.reach(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	info, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: what is there is %s, not a regular file", file, info.Mode())
	}
	content, err := folder.Read(name, maxPrevious)
	if err != nil {
		return nil, err
	}
	found := &standing{content: content, mode: info.Mode()}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		found.user, found.group = int(owner.Uid), int(owner.Gid)
	}
	return found, nil
}

// maxPrevious bounds a file that is replaced, and kept.
const maxPrevious = 256 << 20

func (s *standing) is(digest string, mode fs.FileMode) bool {
	return s != nil && s.mode == mode && digestOf(s.content) == digest
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// putFile writes a file under a name of a folder, for root where we are root.
func putFile(folder *disk.Folder, name string, content []byte, mode fs.FileMode, user, group int) error {
	if err := folder.Create(name, bytes.NewReader(content), mode); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	return folder.Own(name, user, group, mode)
}

const keptPrefix = "kept-"

// keptIn is the folder of the files that a version replaces.
func keptIn(version string) string { return keptPrefix + filepath.Base(version) }
