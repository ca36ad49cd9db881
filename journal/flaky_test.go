package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"salve/runbook"
)

var errDisk = errors.New("input/output error")

// flaky is a disk of which one call fails, once. It counts the files that are open.
type flaky struct {
	disk
	// fail is how many calls go well before the one that fails; below zero all do.
	fail int
	// failed is the call that failed.
	failed string
	open   int
}

func (f *flaky) call(what, file string) error {
	f.fail--
	if f.fail == -1 {
		f.failed = what + " *" + path.Ext(file)
		return errDisk
	}
	return nil
}

func (f *flaky) Make() error { return errors.Join(f.call("make", ""), f.disk.Make()) }

func (f *flaky) Mkdir(name string) error {
	if err := f.call("mkdir", name); err != nil {
		return err
	}
	return f.disk.Mkdir(name)
}

func (f *flaky) Open(name string, mode openMode) (diskFile, error) {
	if err := f.call("open", name); err != nil {
		return nil, err
	}
	file, err := f.disk.Open(name, mode)
	if err != nil {
		return nil, err
	}
	f.open++
	return &flakyFile{file, f, name, mode}, nil
}

func (f *flaky) Lstat(name string) (fs.FileInfo, error) {
	if err := f.call("lstat", name); err != nil {
		return nil, err
	}
	return f.disk.Lstat(name)
}

func (f *flaky) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.call("readdir", name); err != nil {
		return nil, err
	}
	return f.disk.ReadDir(name)
}

func (f *flaky) Rename(from, to string) error {
	if err := f.call("rename", to); err != nil {
		return err
	}
	return f.disk.Rename(from, to)
}

func (f *flaky) Link(from, to string) error {
	if err := f.call("link", to); err != nil {
		return err
	}
	return f.disk.Link(from, to)
}

func (f *flaky) Remove(name string) error {
	if err := f.call("remove", name); err != nil {
		return err
	}
	return f.disk.Remove(name)
}

func (f *flaky) RemoveAll(name string) error {
	if err := f.call("removeall", name); err != nil {
		return err
	}
	return f.disk.RemoveAll(name)
}

func (f *flaky) SyncDir(name string) error {
	if err := f.call("syncdir", name); err != nil {
		return err
	}
	return f.disk.SyncDir(name)
}

func (f *flaky) Lock(name string) (func() error, bool, error) {
	if err := f.call("lock", name); err != nil {
		return nil, false, err
	}
	return f.disk.Lock(name)
}

type flakyFile struct {
	diskFile
	on   *flaky
	name string
	mode openMode
}

func (f *flakyFile) ReadAt(into []byte, at int64) (int, error) {
	if err := f.on.call("read", f.name); err != nil {
		return 0, err
	}
	return f.diskFile.ReadAt(into, at)
}

func (f *flakyFile) WriteAt(from []byte, at int64) (int, error) {
	if err := f.on.call("write", f.name); err != nil {
		return 0, err
	}
	return f.diskFile.WriteAt(from, at)
}

func (f *flakyFile) Truncate(size int64) error {
	if err := f.on.call("truncate", f.name); err != nil {
		return err
	}
	return f.diskFile.Truncate(size)
}

func (f *flakyFile) Size() (int64, error) {
	if err := f.on.call("size", f.name); err != nil {
		return 0, err
	}
	return f.diskFile.Size()
}

func (f *flakyFile) Sync() error {
	if err := f.on.call("sync", f.name); err != nil {
		return err
	}
	return f.diskFile.Sync()
}

// Close closes the file also when it fails, as the operating system does. What was
// read, or written and synced, is not made untrue by it.
func (f *flakyFile) Close() error {
	f.on.open--
	if f.mode != creating {
		return f.diskFile.Close()
	}
	return errors.Join(f.on.call("close", f.name), f.diskFile.Close())
}

// onFlaky is a journal with two runs and a lease on a disk that works until it is
// told to fail.
func onFlaky(t *testing.T) (*File, *flaky, *platter, Lease) {
	t.Helper()
	p := newPlatter()
	d := &flaky{disk: p, fail: -1}
	file := &File{keyFile: keyFile{disk: d, path: "key", name: "key"}, dir: "journal", disk: d, ends: map[string][]int64{}}
	lease, err := file.Lock(t.Context(), Claim{Target: "lamp/1", Holder: Holder{Run: "run-1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"run-1", "run-2"} {
		header := Header{Run: run, Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}}
		record, err := Create(t.Context(), file, lease, noon, header)
		if err != nil {
			t.Fatal(err)
		}
		if err := record.PutExport(t.Context(), "bundle", []byte("definition")); err != nil {
			t.Fatal(err)
		}
	}
	return file, d, p, lease
}

// diskUse is something that is asked of a journal on a disk.
type diskUse struct {
	prepare, do func(context.Context, *File, Lease) error
	// quiet are the calls, with the kind of file, whose failure changes nothing of the
	// answer. A head that can't be read is none: the older one in the lease counts.
	quiet []string
}

// uses are all of them.
func uses() map[string]diskUse {
	bundle := Export{Name: "bundle", Sum: hash([]byte("definition"))}.file()
	freshly := func(f *File) *File {
		return &File{keyFile: f.keyFile, dir: f.dir, disk: f.disk, ends: map[string][]int64{}}
	}
	head := []string{"open *.head", "size *.head", "read *.head"}
	// A lease that was not looked at is read.
	checked := append([]string{"lstat *.json"}, head...)
	release := func(ctx context.Context, _ *File, lease Lease) error { return lease.Release(ctx) }
	return map[string]diskUse{
		"create": {do: func(ctx context.Context, f *File, _ Lease) error { return f.Create(ctx, "run-9") }},
		"append": {do: func(ctx context.Context, f *File, _ Lease) error { return f.Append(ctx, "run-1", 3, []byte("x\n")) }},
		"read": {do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.Read(ctx, "run-1")
			return err
		}},
		"read a line": {do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := freshly(f).ReadLine(ctx, "run-1", 2)
			return err
		}},
		"read a line that is known": {do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.ReadLine(ctx, "run-1", 2)
			return err
		}},
		"list": {do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.Runs(ctx)
			return err
		}},
		"export": {do: func(ctx context.Context, f *File, _ Lease) error {
			return f.PutExport(ctx, "run-1", "other", []byte("x"))
		}},
		"export again": {do: func(ctx context.Context, f *File, _ Lease) error {
			return f.PutExport(ctx, "run-1", bundle, []byte("definition"))
		}},
		"read an export": {do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.Export(ctx, "run-1", bundle)
			return err
		}},
		"delete": {do: func(ctx context.Context, f *File, _ Lease) error { return f.Delete(ctx, "run-2") }},
		"lock": {do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.Lock(ctx, Claim{Target: "lamp/2"})
			return err
		}},
		"lock again": {prepare: release, quiet: head, do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.Lock(ctx, Claim{Target: "lamp/1"})
			return err
		}},
		// What can't be read is not written to: the file stays as it is.
		"release": {do: release, quiet: append(slices.Clone(checked), "open *.json", "size *.json", "read *.json")},
		"peek": {quiet: head, do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.Peek(ctx, "lamp/1")
			return err
		}},
		"open runs": {quiet: head, do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.OpenRuns(ctx)
			return err
		}},
		"check": {quiet: checked, do: func(ctx context.Context, _ *File, lease Lease) error { return lease.Check(ctx) }},
		"write the head": {quiet: checked, do: func(ctx context.Context, _ *File, lease Lease) error {
			return lease.SetOpenRun(ctx, OpenRun{Run: "run-2", Seq: 9})
		}},
		"name another run": {quiet: checked, do: func(ctx context.Context, _ *File, lease Lease) error {
			return lease.SetOpenRun(ctx, OpenRun{Run: "run-9"})
		}},
		"key": {do: func(ctx context.Context, f *File, _ Lease) error {
			_, err := f.Key(ctx, "mend")
			return err
		}},
		"make the key": {do: func(ctx context.Context, f *File, _ Lease) error {
			f.name = "other"
			_, err := f.MakeKey(ctx, "mend")
			return err
		}},
	}
}

// TestEveryErrorOfTheDiskIsTold: whichever call fails, what was asked for is not said
// to be done, no file stays open, and a lock that nobody got is nobody's.
func TestEveryErrorOfTheDiskIsTold(t *testing.T) {
	for name, use := range uses() {
		t.Run(name, func(t *testing.T) {
			n := 0
			for use.fails(t, n) {
				n++
			}
		})
	}
}

// fails lets one call fail; it is false when there is none of that number.
func (u diskUse) fails(t *testing.T, n int) bool {
	file, d, p, lease := onFlaky(t)
	if u.prepare != nil {
		if err := u.prepare(t.Context(), file, lease); err != nil {
			t.Fatal(err)
		}
	}
	locked := held(p)
	d.fail = n
	err := u.do(t.Context(), file, lease)
	if d.open != held(p) { // that of the head, as long as the lease is held
		t.Errorf("call %d (%s): %d files are open", n, d.failed, d.open)
	}
	switch {
	case d.failed == "" && err != nil:
		t.Errorf("nothing failed: %v", err)
	case d.failed != "" && !slices.Contains(u.quiet, d.failed) && !strings.Contains(fmt.Sprint(err), errDisk.Error()):
		t.Errorf("call %d (%s) failed, and what is told is %v", n, d.failed, err)
	case err != nil && held(p) > locked:
		t.Errorf("call %d (%s): a lock is left", n, d.failed)
	}
	return d.failed != ""
}

// held counts the locks that are held.
func held(p *platter) (count int) {
	for _, is := range p.locks {
		if is {
			count++
		}
	}
	return count
}

// costs is how many calls something takes.
func (f *flaky) costs(t *testing.T, do func() error) int {
	t.Helper()
	const many = 1 << 20
	f.fail = many
	if err := do(); err != nil {
		t.Fatal(err)
	}
	calls := many - f.fail
	f.fail = -1
	return calls
}

// TestLineThatIsKnownIsReadAlone: by the process that wrote it, however long the record is.
func TestLineThatIsKnownIsReadAlone(t *testing.T) {
	file, d, _, _ := onFlaky(t)
	if _, err := file.Read(t.Context(), "run-1"); err != nil {
		t.Fatal(err)
	}
	if err := file.Append(t.Context(), "run-1", 3, []byte("three\n")); err != nil {
		t.Fatal(err)
	}
	for seq := 1; seq <= 3; seq++ {
		calls := d.costs(t, func() error {
			_, err := file.ReadLine(t.Context(), "run-1", seq)
			return err
		})
		if calls != 2 {
			t.Errorf("line %d costs %d calls, not the opening and the reading", seq, calls)
		}
	}
}

// TestLeaseThatNobodyTouchedIsNotRead: to look at its file is enough.
func TestLeaseThatNobodyTouchedIsNotRead(t *testing.T) {
	d := &flaky{disk: folder(t.TempDir()), fail: -1}
	file := &File{keyFile: keyFile{disk: d, path: "key", name: "key"}, dir: "journal", disk: d, ends: map[string][]int64{}}
	lease, err := file.Lock(t.Context(), Claim{Target: "lamp/1"})
	if err != nil {
		t.Fatal(err)
	}
	if calls := d.costs(t, func() error { return lease.Check(t.Context()) }); calls != 1 {
		t.Errorf("it costs %d calls", calls)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}
