package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"salve/internal/apierr"
)

// leaseState is what a lease's file holds; it outlives the lease, because the
// epoch must only grow.
type leaseState struct {
	Target string `json:"target"`
	Epoch  int64  `json:"epoch"`
	Holder Holder `json:"holder"`
}

// fileLease is an advisory lock of the operating system, which a killed process
// gives free by dying, with the epoch in a file beside it.
type fileLease struct {
	lock  *flock.Flock
	path  string
	state leaseState
}

// Lock takes the lease on a target.
func (f *File) Lock(_ context.Context, claim Claim) (Lease, error) {
	target := claim.Target
	dir := filepath.Join(f.dir, "leases")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("locking %s: %w", target, err)
	}
	path := filepath.Join(dir, hash([]byte(target))[:16]+".json")
	lock := flock.New(path + ".lock")
	ours, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", target, err)
	}
	state, readErr := readLease(path)
	if !ours {
		return nil, &apierr.Error{Class: apierr.Conflict, Err: &HeldError{Target: target, Holder: state.Holder}}
	}
	if readErr != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", target, readErr), lock.Unlock())
	}
	lease := &fileLease{lock: lock, path: path, state: leaseState{Target: target, Epoch: max(state.Epoch, claim.Above) + 1, Holder: claim.Holder}}
	if err := writeLease(path, lease.state); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", target, err), lock.Unlock())
	}
	return lease, nil
}

func (l *fileLease) Epoch() int64 { return l.state.Epoch }

// Check compares the epoch in the file with ours: a lock that was lost, as on a
// network file system, shows as a higher one.
func (l *fileLease) Check(context.Context) error {
	state, err := readLease(l.path)
	if err != nil {
		return apierr.New(apierr.Conflict, "the lease on %s can't be seen: %w", l.state.Target, err)
	}
	if state.Epoch != l.state.Epoch || !l.lock.Locked() {
		return apierr.New(apierr.Conflict, "the lease on %s was lost: epoch %d is at work, ours is %d", l.state.Target, state.Epoch, l.state.Epoch)
	}
	return nil
}

func (l *fileLease) Release(context.Context) error { return l.lock.Unlock() }

func readLease(path string) (leaseState, error) {
	var state leaseState
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return state, fmt.Errorf("lease file %s is damaged; look who holds the target, then remove it: %w", path, err)
	}
	return state, nil
}

// writeLease replaces the file at once, so that a crash leaves the old epoch or
// the new one.
func writeLease(path string, state leaseState) error {
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	next := path + ".next"
	file, err := os.OpenFile(next, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(raw, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
