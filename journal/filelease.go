package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"salve/internal/apierr"
)

// leaseState is what a lease's file holds; it outlives the lease, because the
// epoch must only grow.
type leaseState struct {
	Target string `json:"target"`
	Epoch  int64  `json:"epoch"`
	// Holder is nil when the lease was released.
	Holder *Holder  `json:"holder,omitempty"`
	Open   *OpenRun `json:"open,omitempty"`
}

const (
	leasesFolder = "leases"
	maxLease     = 64 << 10
	// maxEpoch is what leases of all kinds can hold.
	maxEpoch = 1<<31 - 1
)

// fileLease is an advisory lock of the operating system, which a killed process
// releases by dying, with the epoch in a file beside it.
type fileLease struct {
	file *File
	path string
	head *headFile

	mu      sync.Mutex
	release func() error // nil once it was released
	state   leaseState
	// base is the open run as the lease's file has it, durably.
	base *OpenRun
	// written is the lease's file as this process left it.
	written fs.FileInfo
}

func leasePath(target string) string {
	return filepath.Join(leasesFolder, hash([]byte(target))[:16]+".json")
}

// Lock takes the lease on a target.
func (f *File) Lock(_ context.Context, claim Claim) (Lease, error) {
	lease, err := f.lock(claim)
	var held *HeldError
	if errors.As(err, &held) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s in %s: %w", claim.Target, f.dir, f.withHint(err))
	}
	return lease, nil
}

func (f *File) lock(claim Claim) (*fileLease, error) {
	if err := f.disk.Make(); err != nil {
		return nil, err
	}
	if err := f.disk.Mkdir(leasesFolder); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	path := leasePath(claim.Target)
	release, ours, err := f.disk.Lock(path + ".lock")
	if err != nil {
		return nil, err
	}
	state, err := f.readLease(path)
	if !ours {
		held := &HeldError{Target: claim.Target}
		if state.Holder != nil {
			held.Holder = *state.Holder
		}
		return nil, &apierr.Error{Class: apierr.Conflict, Err: held}
	}
	lease := &fileLease{file: f, path: path, release: release, state: state}
	if err == nil {
		err = lease.take(claim)
	}
	if err != nil {
		return nil, errors.Join(err, lease.end())
	}
	return lease, nil
}

// take makes the lease the claim's. An epoch that was given must never be given
// again, also after a power cut.
func (l *fileLease) take(claim Claim) error {
	next := max(l.state.Epoch, claim.Above) + 1
	if next > maxEpoch {
		return apierr.New(apierr.Terminal, "epoch %d is more than a lease can hold: lease file %s was edited. %s",
			next, l.file.shown(l.path), removeLease)
	}
	var err error
	if l.head, err = openHead(l.file.disk, l.path); err != nil {
		return err
	}
	l.state.Target, l.state.Epoch, l.state.Holder = claim.Target, next, &claim.Holder
	if err := l.write(); err != nil {
		return err
	}
	return errors.Join(l.file.disk.SyncDir(leasesFolder), l.file.disk.SyncDir("."))
}

// end releases the lock, which is the last thing that is done with it.
func (l *fileLease) end() error {
	release := l.release
	l.release = nil
	return errors.Join(l.head.Close(), release())
}

// Peek reads a lease's file.
func (f *File) Peek(_ context.Context, target string) (Peeked, error) {
	state, err := f.readLease(leasePath(target))
	if err != nil {
		return Peeked{}, fmt.Errorf("looking at the lease on %s in %s: %w", target, f.dir, f.withHint(err))
	}
	return Peeked{Epoch: state.Epoch, Holder: state.Holder, Open: state.Open}, nil
}

// OpenRuns reads all leases' files.
func (f *File) OpenRuns(context.Context) ([]OpenRun, error) {
	entries, err := f.disk.ReadDir(leasesFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the leases in %s: %w", f.dir, err)
	}
	var open []OpenRun
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".json" {
			continue // the file that is locked
		}
		state, err := f.readLease(filepath.Join(leasesFolder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("listing the leases in %s: %w", f.dir, f.withHint(err))
		}
		if state.Open != nil && !state.Open.Closed {
			open = append(open, *state.Open)
		}
	}
	return open, nil
}

// removeLease is what to do about a file that no lease is read from.
const removeLease = "hint: make sure that no run is at work, then remove it"

// shown is a file of the folder, for people.
func (f *File) shown(name string) string { return filepath.Join(f.dir, name) }

// withHint says what to do about a file that blocks a target and that nobody here put there.
func (f *File) withHint(err error) error {
	var planted *plantedError
	if !errors.As(err, &planted) {
		return err
	}
	return fmt.Errorf("%w. hint: look at %s; make sure that no run is at work, then remove it", err, f.shown(planted.name))
}

func (l *fileLease) Epoch() int64 { return l.state.Epoch }

// Check compares the epoch in the file with ours: a lock that was lost, as on a
// network file system, shows as a higher one.
func (l *fileLease) Check(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.check()
}

func (l *fileLease) check() error {
	if l.release == nil {
		return lost(l.state.Target, l.state.Epoch, nil, "it was released")
	}
	if l.untouched() {
		return nil
	}
	state, err := l.file.readLease(l.path)
	if err != nil {
		return lost(l.state.Target, l.state.Epoch, nil, err.Error())
	}
	switch {
	case state.Epoch != l.state.Epoch:
		return lost(l.state.Target, l.state.Epoch, state.Holder, fmt.Sprintf("the file has epoch %d", state.Epoch))
	case state.Target != l.state.Target || !sameHolder(state.Holder, l.state.Holder):
		// A file that was removed is made anew with the first epoch.
		return lost(l.state.Target, l.state.Epoch, state.Holder, "the file is another holder's")
	}
	return nil
}

// sameHolder compares what tells one process from another.
func sameHolder(one, other *Holder) bool {
	if one == nil || other == nil {
		return one == other
	}
	return one.Run == other.Run && one.Host == other.Host && one.PID == other.PID
}

// untouched tells whether the lease's file is the one that this process wrote: then
// it need not be read again. Another holder replaces it by a file of its own.
func (l *fileLease) untouched() bool {
	info, err := l.file.disk.Lstat(l.path)
	return err == nil && l.written != nil && os.SameFile(info, l.written) &&
		info.ModTime().Equal(l.written.ModTime()) && info.Size() == l.written.Size()
}

// OpenRun is the run that the file named when the lease was taken, or since.
func (l *fileLease) OpenRun() *OpenRun {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Open
}

// SetOpenRun writes the record's head. A crash leaves a head before it or this one,
// which are both true of a record that only grows. So only a run's first head and
// its last are made durable; all are kept beside the lease, where each is written
// before the durable one: since this machine started, it is never the older.
func (l *fileLease) SetOpenRun(_ context.Context, open OpenRun) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(); err != nil {
		return err
	}
	if err := l.head.write(open); err != nil {
		return err
	}
	begun := l.base == nil || l.base.Run != open.Run
	l.state.Open = &open
	if !begun && !open.Closed && open.after(*l.base) && open.Boot == l.base.Boot {
		return nil
	}
	if err := l.write(); err != nil || !begun {
		return err
	}
	// From its first entry on the lease vouches for a run, also after a power cut.
	return l.file.disk.SyncDir(leasesFolder)
}

// Release ends the lock. The file stays, because its epoch must only grow.
func (l *fileLease) Release(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.release == nil {
		return nil
	}
	var err error
	if l.check() == nil {
		l.state.Holder = nil
		err = l.write()
	}
	return errors.Join(err, l.end())
}

func (f *File) readLease(path string) (leaseState, error) {
	var state leaseState
	raw, err := readBounded(f.disk, path, maxLease)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	err = json.Unmarshal(raw, &state)
	if err == nil && (state.Epoch < 0 || state.Epoch > maxEpoch) {
		err = fmt.Errorf("epoch %d is out of range", state.Epoch)
	}
	if err != nil {
		return leaseState{}, fmt.Errorf("lease file %s is damaged: %w. %s", f.shown(path), err, removeLease)
	}
	if state.Open != nil {
		state.Open = f.newest(*state.Open, path)
	}
	return state, nil
}

// newest gives the newer of the durable head and the one beside the lease. Where that
// one is older or can't be read although the machine runs since it was written,
// somebody took it away: then the lease vouches for nothing, its seal is gone.
func (f *File) newest(durable OpenRun, lease string) *OpenRun {
	beside, found := readHead(f.disk, lease)
	found = found && beside.Run == durable.Run
	switch {
	case found && beside.after(durable):
		return &beside
	case found && !durable.after(beside), durable.Closed, durable.Boot == "", durable.Boot != f.disk.Boot():
		return &durable
	}
	durable.Seal = ""
	return &durable
}

// write replaces the file at once, so that a crash leaves the old state or the new
// one.
func (l *fileLease) write() error {
	raw, err := json.Marshal(l.state)
	if err != nil {
		return err
	}
	if err := replace(l.file.disk, l.path, append(raw, '\n')); err != nil {
		return err
	}
	l.base = l.state.Open
	l.written, err = l.file.disk.Lstat(l.path)
	return err
}
