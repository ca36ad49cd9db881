//go:build linux

package protect

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Kind says how far a place reaches.
type Kind int

// The kinds.
const (
	// File is one file.
	File Kind = iota
	// Family is a file and what lies beside it under its name: name, name.* and .name.*.
	Family
	// Tree is a folder with all that is in it.
	Tree
	// Copies is a file and every file with the same contents.
	Copies
)

// Place is something that is never written to. It need not be there.
type Place struct {
	Path string
	Kind Kind
}

// Error is a path that leads to a protected place.
type Error struct {
	Path  string // that was to be written to
	Place string
}

func (e *Error) Error() string {
	if e.Path == e.Place {
		return fmt.Sprintf("%s is never replaced: this node's boot depends on it", e.Path)
	}
	return fmt.Sprintf("%s is never replaced: it leads to %s, which this node's boot depends on", e.Path, e.Place)
}

// maxMembers bounds how much of a protected folder is looked at.
const maxMembers = 20_000

// Map is where the protected places are.
type Map struct {
	points   map[identity][]point
	overlays []overlay
	copies   []content
	members  int
}

// identity tells a file or folder from all others, whatever its name.
type identity struct{ device, file uint64 }

// point is a place as seen from a file or a folder that is there.
type point struct {
	rest  string // the way on from there; empty for itself
	kind  Kind
	place string
}

// content is what no file may have that is replaced.
type content struct {
	size   int64
	digest [sha256.Size]byte
	place  string
}

// Survey looks for the places.
func Survey(places []Place) (*Map, error) {
	overlays, err := mountedOverlays()
	if err != nil {
		return nil, fmt.Errorf("looking for protected places: %w", err)
	}
	m := &Map{points: map[identity][]point{}, overlays: overlays}
	for _, place := range places {
		if place.Path == "" {
			continue
		}
		if err := m.add(place); err != nil {
			return nil, fmt.Errorf("looking for the protected place %s: %w", place.Path, err)
		}
	}
	return m, nil
}

func (m *Map) add(place Place) error {
	absolute, err := filepath.Abs(place.Path)
	if err != nil {
		return err
	}
	// A link is protected as well as what it leads to, and each link on the way.
	steps, err := follow(absolute)
	if err != nil {
		return err
	}
	for _, step := range m.layers(steps) {
		if err := m.addPath(step, place); err != nil {
			return err
		}
	}
	if place.Kind == Copies {
		return m.addContent(place.Path)
	}
	return nil
}

// addPath notes a path as seen from every folder on its way that is there.
func (m *Map) addPath(path string, place Place) error {
	seen, err := ancestors(path)
	if err != nil {
		return err
	}
	for _, one := range seen {
		m.note(one.identity, point{one.rest, place.Kind, place.Path})
	}
	switch place.Kind {
	case Tree:
		return m.addMembers(path, place.Path)
	case Family:
		return m.addFamily(path, place.Path)
	default:
		return nil
	}
}

func (m *Map) note(at identity, one point) { m.points[at] = append(m.points[at], one) }

// addMembers notes all that is in a folder now: parts of it may be mounted or linked
// elsewhere.
func (m *Map) addMembers(folder, place string) error {
	return filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.members++; m.members > maxMembers {
			return fmt.Errorf("there are more than %d files in protected folders", maxMembers)
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		m.note(identityOf(info), point{"", Tree, place})
		return nil
	})
}

// addFamily notes what lies beside a file under its name now.
func (m *Map) addFamily(path, place string) error {
	folder, name := filepath.Split(path)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !related(name, entry.Name()) {
			continue
		}
		if err := m.addMembers(filepath.Join(folder, entry.Name()), place); err != nil {
			return err
		}
	}
	return nil
}

func related(name, other string) bool {
	return other == name || strings.HasPrefix(other, name+".") || strings.HasPrefix(other, "."+name+".")
}

func (m *Map) addContent(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	size, digest, err := digestOf(file)
	if err == nil {
		m.copies = append(m.copies, content{size, digest, path})
	}
	return err
}

func digestOf(file io.Reader) (size int64, digest [sha256.Size]byte, err error) {
	sum := sha256.New()
	size, err = io.Copy(sum, file)
	copy(digest[:], sum.Sum(nil))
	return size, digest, err
}

// Check gives an *Error for a path that leads to a protected place, is on the way to
// one, or leads below one.
func (m *Map) Check(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	steps, err := follow(absolute)
	if err != nil {
		return err
	}
	for _, step := range m.layers(steps) {
		seen, err := ancestors(step)
		if err != nil {
			return err
		}
		for _, one := range seen {
			for _, known := range m.points[one.identity] {
				if known.meets(one.rest) {
					return &Error{path, known.place}
				}
			}
		}
	}
	return m.checkContent(path)
}

// meets tells whether a way from the same folder leads to the place, to a folder on
// its way, or below it.
func (p point) meets(rest string) bool {
	if p.kind == Family && p.rest != "" {
		folder, name := filepath.Split(p.rest)
		if below, inside := strings.CutPrefix(rest, folder); inside {
			first, _, _ := strings.Cut(below, "/")
			return related(name, first)
		}
	}
	return p.rest == rest || within(p.rest, rest) || within(rest, p.rest)
}

// within tells whether a path is below a folder, both from the same place.
func within(folder, path string) bool {
	return folder == "" && path != "" || strings.HasPrefix(path, folder+"/")
}

// checkContent refuses to replace a file that has the contents of a protected one.
func (m *Map) checkContent(path string) error {
	for _, one := range m.copies {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() != one.size {
			continue // what isn't there, or can't be looked at, replaces no copy
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		_, digest, err := digestOf(file)
		_ = file.Close() // it was only read
		if err != nil {
			return err
		}
		if digest == one.digest {
			return &Error{path, one.place}
		}
	}
	return nil
}
