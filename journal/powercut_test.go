package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"testing"
	"time"

	"salve/runbook"
)

// on is a journal on a disk, as a process sees it that begins there.
func on(p *platter) *File {
	return &File{keyFile: keyFile{disk: p, path: "key", name: "key"}, dir: "journal", disk: p, ends: map[string][]int64{}}
}

// acknowledged is what a process was told to be durable before the power was cut.
type acknowledged struct {
	epoch   int64
	entries int
	export  bool
	// first says that run-0 was made, deleting that it may be gone, deleted that it is.
	first, deleting, deleted bool
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// work writes a run until the power is cut.
func work(p *platter) (told acknowledged) {
	ctx, file := context.Background(), on(p)
	old := Header{Run: "run-0", Runbook: "mend", Target: runbook.Target{ID: "lamp/0"}}
	if _, err := Create(ctx, file, NoLease(1), noon, old); err != nil {
		return told
	}
	told.first = true
	lease, err := file.Lock(ctx, Claim{Target: "lamp/1", Holder: Holder{Run: "run-1"}})
	if err != nil {
		return told
	}
	told.epoch = lease.Epoch()
	record, err := Create(ctx, file, lease, noon,
		Header{Run: "run-1", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}})
	if err != nil {
		return told
	}
	told.entries = 1
	for n := range 3 {
		if err := record.AppendAll(ctx, Pending{Kind: Intended, Step: "a", Data: Intent{Attempt: n + 1}},
			Pending{Kind: Warned, Data: Message{Text: "x"}}); err != nil {
			return told
		}
		told.entries = len(record.Entries)
	}
	if err := record.PutExport(ctx, "bundle", []byte("definition")); err != nil {
		return told
	}
	told.export, told.entries, told.deleting = true, len(record.Entries), true
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
	if told.first && !told.deleting {
		if first, err := Load(ctx, file, "run-0"); err != nil || len(first.Entries) != 1 {
			return fmt.Errorf("run-0: %w", err)
		}
	}
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

// sweep cuts the power at every point and gives what is then not as it was told, or
// the first of it where that is enough.
func sweep(idle string, enough int) (failures []error, points int) {
	whole := newPlatter()
	whole.idle = idle
	work(whole)
	for cut := 0; cut <= whole.ops && len(failures) < enough; cut++ {
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
	failures, points := sweep("", math.MaxInt)
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
		if failures, _ := sweep(idle, 1); len(failures) == 0 {
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
