package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/runbook"
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
}

var errPower = errors.New("the power is cut")

func newPlatter() *platter {
	return &platter{names: map[string]*node{}, synced: map[string]*node{}, locks: map[string]bool{}, cut: -1}
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
	from := p.synced
	if how != "nothing unsynced is left" {
		from = p.names
	}
	for name, old := range from {
		if dir := path.Dir(name); dir != "." && from[dir] == nil {
			continue // its folder is lost
		}
		kept := &node{dir: old.dir, data: slices.Clone(old.synced)}
		if how == "writes are torn" && len(old.data) > len(old.synced) {
			kept.data = slices.Clone(old.data[:len(old.synced)+(len(old.data)-len(old.synced))/2])
		}
		kept.synced = slices.Clone(kept.data)
		next.names[name], next.synced[name] = kept, kept
	}
	return next
}

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
		// A write under way is torn.
		f.node.data = append(f.node.data[:at:at], from[:len(from)/2]...)
		return 0, err
	}
	f.node.data = append(f.node.data[:at:at], from...)
	return len(from), nil
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

// on is a journal on a disk, as a process sees it that begins there.
func on(p *platter) *File {
	return &File{keyFile: keyFile{disk: p, path: "key", name: "key"}, dir: "journal", disk: p, ends: map[string][]int64{}}
}

// acknowledged is what a process was told to be durable before the power was cut.
type acknowledged struct {
	epoch   int64
	entries int
	export  bool
	deleted bool
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// work writes a run until the power is cut.
func work(p *platter) (told acknowledged) {
	ctx, file := context.Background(), on(p)
	old := Header{Run: "run-0", Runbook: "mend", Target: runbook.Target{ID: "lamp/0"}}
	if _, err := Create(ctx, file, NoLease(1), noon, old); err != nil {
		return told
	}
	lease, err := file.Lock(ctx, Claim{Target: "lamp/1", Holder: Holder{Run: "run-1"}})
	if err != nil {
		return told
	}
	told.epoch = lease.Epoch()
	record, err := Create(ctx, file, lease, noon, Header{Run: "run-1", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}})
	if err != nil {
		return told
	}
	told.entries = 1
	for n := range 3 {
		if err := record.AppendAll(ctx, Pending{Kind: Intended, Step: "a", Data: Intent{Attempt: n + 1}}, Pending{Kind: Warned, Data: Message{Text: "x"}}); err != nil {
			return told
		}
		told.entries = len(record.Entries)
	}
	if err := record.PutExport(ctx, "bundle", []byte("definition")); err != nil {
		return told
	}
	told.export, told.entries = true, len(record.Entries)
	if err := file.Delete(ctx, "run-0"); err != nil {
		return told
	}
	told.deleted = true
	return told
}

// kept looks whether what was acknowledged is there after the power cut, and nothing
// half-written is believed: the run can be resumed.
func (told acknowledged) kept(p *platter) error {
	ctx, file := context.Background(), on(p)
	lease, err := file.Lock(ctx, Claim{Target: "lamp/1", Holder: Holder{Run: "run-1"}})
	if err != nil {
		return fmt.Errorf("locking: %w", err)
	}
	if lease.Epoch() <= told.epoch {
		return fmt.Errorf("epoch %d after %d", lease.Epoch(), told.epoch)
	}
	runs, err := file.Runs(ctx)
	if err != nil || told.deleted && slices.Contains(runs, "run-0") {
		return fmt.Errorf("runs %v, %w", runs, err)
	}
	record, err := Load(ctx, file, "run-1")
	var missing *MissingError
	if errors.As(err, &missing) && told.entries == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("loading: %w", err)
	}
	if len(record.Entries) < told.entries {
		return fmt.Errorf("%d entries of %d", len(record.Entries), told.entries)
	}
	if told.export {
		if data, err := record.ReadExport(ctx, "bundle"); err != nil || string(data) != "definition" {
			return fmt.Errorf("export %q, %w", data, err)
		}
	}
	if len(record.Entries) == 0 {
		return nil
	}
	if err := record.Reopen(lease, noon); err != nil {
		return fmt.Errorf("reopening: %w", err)
	}
	before := len(record.Entries)
	if err := record.Append(ctx, Resumed, "", Resumption{}); err != nil {
		return fmt.Errorf("appending: %w", err)
	}
	if again, err := Load(ctx, on(p), "run-1"); err != nil || len(again.Entries) != before+1 {
		return fmt.Errorf("loading again: %w", err)
	}
	return nil
}

var afterCuts = []string{"nothing unsynced is left", "names are left without their data", "writes are torn"}

// sweep cuts the power at every point and gives what is then not as it was told.
func sweep(idle string) (failures []error, points int) {
	whole := newPlatter()
	whole.idle = idle
	work(whole)
	for cut := 0; cut <= whole.ops; cut++ {
		for _, how := range afterCuts {
			p := newPlatter()
			p.cut, p.idle = cut, idle
			told := work(p)
			if err := told.kept(p.after(how)); err != nil {
				failures = append(failures, fmt.Errorf("cut at %d of %d, %s: %w", cut, whole.ops, how, err))
			}
		}
	}
	return failures, whole.ops
}

// TestPowerCutAtEveryPoint: nothing that was acknowledged is lost, and nothing
// half-written is believed.
func TestPowerCutAtEveryPoint(t *testing.T) {
	failures, points := sweep("")
	for _, err := range failures {
		t.Error(err)
	}
	if points < 50 {
		t.Errorf("only %d points to cut at", points)
	}
}

// TestEverySyncIsNeeded: without any one of them something is lost.
func TestEverySyncIsNeeded(t *testing.T) {
	lease := path.Base(leasePath("lamp/1"))
	export := Export{Name: "bundle", Sum: hash([]byte("definition"))}.file()
	for _, idle := range []string{
		"file key", "file journal.jsonl", "file " + lease + ".next", "file " + export + ".next",
		"folder .", "folder runs", "folder runs/run-1", "folder runs/run-1/exports", "folder leases",
	} {
		if failures, _ := sweep(idle); len(failures) == 0 {
			t.Errorf("without the sync of %s nothing is lost", idle)
		}
	}
}

// TestFoldersAreMadeDurably: the name of each new folder is synced where it stands.
func TestFoldersAreMadeDurably(t *testing.T) {
	there, synced := map[string]bool{"/": true, "/home": true}, []string{}
	mkdir := func(name string, _ fs.FileMode) error {
		switch {
		case there[name]:
			return fs.ErrExist
		case !there[path.Dir(name)]:
			return fs.ErrNotExist
		}
		there[name] = true
		return nil
	}
	err := makeFolders("/home/state/salve", mkdir, func(name string) error { synced = append(synced, name); return nil })
	if want := []string{"/home", "/home/state"}; err != nil || !slices.Equal(synced, want) {
		t.Errorf("synced %v, want %v: %v", synced, want, err)
	}
}
