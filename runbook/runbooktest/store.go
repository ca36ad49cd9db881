package runbooktest

import (
	"context"

	"salve/journal"
)

// mortal is the journal of a process that is killed at one of its writes. The dead
// write nothing, and release no lease.
type mortal struct {
	*journal.Memory
	process *Process
}

// Create makes a record.
func (m *mortal) Create(ctx context.Context, run string) error {
	return m.process.do(write, func() error { return m.Memory.Create(ctx, run) })
}

// Append adds a line.
func (m *mortal) Append(ctx context.Context, run string, seq int, line []byte) error {
	return m.process.do(write, func() error { return m.Memory.Append(ctx, run, seq, line) })
}

// PutExport keeps data.
func (m *mortal) PutExport(ctx context.Context, run, name string, data []byte) error {
	return m.process.do(write, func() error { return m.Memory.PutExport(ctx, run, name, data) })
}

// Lock takes a lease.
func (m *mortal) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	if m.process.killed() {
		return nil, errKilled
	}
	lease, err := m.Memory.Lock(ctx, claim)
	if err != nil {
		return nil, err
	}
	return &mortalLease{Lease: lease, process: m.process}, nil
}

// mortalLease is a lease that ends by its time when its process is killed.
type mortalLease struct {
	journal.Lease
	process *Process
}

// Check fails for the dead.
func (l *mortalLease) Check(ctx context.Context) error {
	if l.process.killed() {
		return errKilled
	}
	return l.Lease.Check(ctx)
}

// SetOpenRun writes the head of the record.
func (l *mortalLease) SetOpenRun(ctx context.Context, open journal.OpenRun) error {
	return l.process.do(write, func() error { return l.Lease.SetOpenRun(ctx, open) })
}

// Release releases the target.
func (l *mortalLease) Release(ctx context.Context) error {
	if l.process.killed() {
		return errKilled
	}
	return l.Lease.Release(ctx)
}
