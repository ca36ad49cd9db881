package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// node is a file or a folder on the platter.
type node struct {
	dir bool
	// data is what a process sees; synced is what outlives a power cut.
	data, synced []byte
}

// platter is a disk that loses its power. Names are synced by their folder, data by
// their file; what was not synced is lost, kept or torn.
type platter struct {
	names, synced map[string]*node
	locks         map[string]bool
	// ops counts effects; the power is cut before effect number cut.
	ops, cut int
	// idle are the syncs that do nothing, to see that they are needed.
	idle string
	// started names the start of the machine.
	started string
	// kills says that the process dies and the machine does not: a short write is then
	// whole or not begun (a signal is taken between pages).
	kills bool
}

var errPower = errors.New("the power is cut")

func newPlatter() *platter {
	return &platter{
		names: map[string]*node{}, synced: map[string]*node{}, locks: map[string]bool{}, cut: -1, started: boot(),
	}
}

// ignores tells whether a sync of a file does nothing.
func (p *platter) ignores(sync string) bool { return p.idle != "" && strings.HasPrefix(sync, p.idle) }

func (p *platter) effect() error {
	if p.ops++; p.cut >= 0 && p.ops > p.cut {
		return errPower
	}
	return nil
}

// after gives the disk as it is when the power is back.
func (p *platter) after(how string) *platter {
	next := newPlatter()
	next.started = "the power is back"
	from := p.synced
	if how != "nothing unsynced is left" {
		from = p.names
	}
	for name, old := range from {
		if lostFolder(from, path.Dir(name)) {
			continue
		}
		kept := &node{dir: old.dir, data: slices.Clone(old.synced)}
		if how == "writes are torn" {
			kept.data = torn(old)
		}
		kept.synced = slices.Clone(kept.data)
		next.names[name], next.synced[name] = kept, kept
	}
	return next
}

// lostFolder tells whether a folder, or one that it is in, is not there any more.
func lostFolder(names map[string]*node, dir string) bool {
	return dir != "." && (names[dir] == nil || lostFolder(names, path.Dir(dir)))
}

// torn is what half of the writes since the last sync make of a file.
func torn(old *node) []byte {
	half := len(old.data) / 2
	if added := len(old.data) - len(old.synced); added > 0 && bytes.HasPrefix(old.data, old.synced) {
		half = len(old.synced) + added/2
	}
	kept := slices.Clone(old.data[:half])
	if len(old.synced) > half {
		kept = append(kept, old.synced[half:]...)
	}
	return kept
}

func (p *platter) Boot() string { return p.started }

func (p *platter) Make() error { return nil }

func (p *platter) Mkdir(name string) error {
	if p.names[name] != nil {
		return fs.ErrExist
	}
	if err := p.effect(); err != nil {
		return err
	}
	p.names[name] = &node{dir: true}
	return nil
}

func (p *platter) Open(name string, mode openMode) (diskFile, error) {
	found := p.names[name]
	switch {
	case mode == creating && found != nil:
		return nil, fs.ErrExist
	case mode == creating:
		if err := p.effect(); err != nil {
			return nil, err
		}
		found = &node{}
		p.names[name] = found
	case found == nil:
		return nil, fs.ErrNotExist
	}
	return &platterFile{p, name, found}, nil
}

func (p *platter) Lstat(name string) (fs.FileInfo, error) {
	found := p.names[name]
	if found == nil {
		return nil, fs.ErrNotExist
	}
	return platterInfo{name, found}, nil
}

func (p *platter) ReadDir(name string) ([]fs.DirEntry, error) {
	if p.names[name] == nil {
		return nil, fs.ErrNotExist
	}
	var entries []fs.DirEntry
	for at, found := range p.names {
		if path.Dir(at) == name {
			entries = append(entries, fs.FileInfoToDirEntry(platterInfo{at, found}))
		}
	}
	return entries, nil
}

func (p *platter) Rename(from, to string) error {
	if p.names[from] == nil {
		return fs.ErrNotExist
	}
	if err := p.effect(); err != nil {
		return err
	}
	for name, found := range p.names {
		if rest, below := strings.CutPrefix(name, from); below && (rest == "" || rest[0] == '/') {
			delete(p.names, name)
			p.names[to+rest] = found
		}
	}
	return nil
}

func (p *platter) Link(from, to string) error {
	if p.names[to] != nil {
		return fs.ErrExist
	}
	if err := p.effect(); err != nil {
		return err
	}
	p.names[to] = p.names[from]
	return nil
}

func (p *platter) Remove(name string) error {
	if p.names[name] == nil {
		return fs.ErrNotExist
	}
	if err := p.effect(); err != nil {
		return err
	}
	delete(p.names, name)
	return nil
}

func (p *platter) RemoveAll(name string) error {
	if err := p.effect(); err != nil {
		return err
	}
	for at := range p.names {
		if at == name || strings.HasPrefix(at, name+"/") {
			delete(p.names, at)
		}
	}
	return nil
}

func (p *platter) SyncDir(name string) error {
	if err := p.effect(); err != nil || p.idle == "folder "+name {
		return err
	}
	for at := range p.synced {
		if path.Dir(at) == name && p.names[at] == nil {
			for below := range p.synced {
				if below == at || strings.HasPrefix(below, at+"/") {
					delete(p.synced, below)
				}
			}
		}
	}
	for at, found := range p.names {
		if path.Dir(at) == name {
			p.synced[at] = found
		}
	}
	return nil
}

func (p *platter) Lock(name string) (func() error, bool, error) {
	if p.names[name] == nil {
		if err := p.effect(); err != nil {
			return nil, false, err
		}
		p.names[name] = &node{}
	}
	if p.locks[name] {
		return nil, false, nil
	}
	p.locks[name] = true
	return func() error { p.locks[name] = false; return nil }, true, nil
}

type platterFile struct {
	platter *platter
	name    string
	node    *node
}

func (f *platterFile) ReadAt(into []byte, at int64) (int, error) {
	return bytes.NewReader(f.node.data).ReadAt(into, at)
}

func (f *platterFile) WriteAt(from []byte, at int64) (int, error) {
	if err := f.platter.effect(); err != nil {
		if !f.platter.kills {
			f.node.put(from[:len(from)/2], at) // a write under way is torn
		}
		return 0, err
	}
	f.node.put(from, at)
	return len(from), nil
}

// put writes over what is there; what lies behind stays.
func (n *node) put(from []byte, at int64) {
	next := append(slices.Clone(n.data[:at]), from...)
	if len(n.data) > len(next) {
		next = append(next, n.data[len(next):]...)
	}
	n.data = next
}

func (f *platterFile) Truncate(size int64) error {
	if err := f.platter.effect(); err != nil {
		return err
	}
	f.node.data = f.node.data[:size:size]
	return nil
}

func (f *platterFile) Sync() error {
	if err := f.platter.effect(); err != nil || f.platter.ignores("file "+path.Base(f.name)) {
		return err
	}
	f.node.synced = slices.Clone(f.node.data)
	return nil
}

func (f *platterFile) Size() (int64, error) { return int64(len(f.node.data)), nil }
func (f *platterFile) Close() error         { return nil }

type platterInfo struct {
	name string
	node *node
}

func (i platterInfo) Name() string       { return path.Base(i.name) }
func (i platterInfo) Size() int64        { return int64(len(i.node.data)) }
func (i platterInfo) ModTime() time.Time { return time.Time{} }
func (i platterInfo) IsDir() bool        { return i.node.dir }
func (i platterInfo) Sys() any           { return nil }
func (i platterInfo) Mode() fs.FileMode {
	if i.node.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}
