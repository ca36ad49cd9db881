package journal

import (
	"context"
	"fmt"
	"time"
)

// Backend keeps records and hands out leases. Implementations store lines as
// they are given and know nothing of what they mean.
type Backend interface {
	// Create makes an empty record; it fails when there is one of that name.
	Create(ctx context.Context, run string) error
	// Append adds the line that has position seq, counting from 1. It is durable
	// when Append returns nil, and may be there or not when it returns an error.
	Append(ctx context.Context, run string, seq int, line []byte) error
	// Read gives the complete lines of a record. A torn last line is left out.
	Read(ctx context.Context, run string) ([][]byte, error)
	// Runs names all records, oldest first.
	Runs(ctx context.Context) ([]string, error)
	// Lock takes the lease on a target. It fails with *HeldError as soon as it is
	// seen that another holder lives.
	Lock(ctx context.Context, claim Claim) (Lease, error)
}

// Batcher is a backend that adds several lines at the cost of one. As many of
// them as are there after an error are the first ones.
type Batcher interface {
	// AppendLines adds the lines that have the positions from seq on.
	AppendLines(ctx context.Context, run string, seq int, lines [][]byte) error
}

// appendLines adds lines to a record, at once where the backend can.
func appendLines(ctx context.Context, backend Backend, run string, seq int, lines [][]byte) error {
	if batcher, can := backend.(Batcher); can && len(lines) > 1 {
		return batcher.AppendLines(ctx, run, seq, lines)
	}
	for i, line := range lines {
		if err := backend.Append(ctx, run, seq+i, line); err != nil {
			return err
		}
	}
	return nil
}

// Claim is what a lease is asked for with.
type Claim struct {
	Target string
	Holder Holder
	// Above is an epoch that the lease's must exceed: that of a record which comes
	// from another backend.
	Above int64
}

// Lease is the lock on a target while it is ours.
type Lease interface {
	// Epoch is the fencing token: it grows with each lease on the target.
	Epoch() int64
	// Check fails, with class Conflict, when the lease is no longer ours.
	Check(ctx context.Context) error
	// Release gives the target free.
	Release(ctx context.Context) error
}

// HeldError says that another runner is at work on the target.
type HeldError struct {
	Target string
	Holder Holder
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("target %s is held by run %s of %s@%s (process %d) since %s",
		e.Target, e.Holder.Run, e.Holder.User, e.Holder.Host, e.Holder.PID, e.Holder.Since.UTC().Format(time.RFC3339))
}

// MissingError says that there is no record of a run.
type MissingError struct{ Run, Where string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("no run %q in the journal at %s", e.Run, e.Where)
}
