package journal

import (
	"context"
	"fmt"
)

// Limits of what is written and read. A record from elsewhere is bounded before it
// is believed.
const (
	// MaxLine is the longest line: what one object of a cluster can hold.
	MaxLine = 1<<20 - 4<<10
	// MaxLines and MaxRecord bound a record.
	MaxLines  = 1 << 18
	MaxRecord = 256 << 20
	// MaxExport bounds an export.
	MaxExport = 32 << 20
)

// Backend keeps records, exports and keys. Implementations store lines as they are
// given and know nothing of what they mean.
type Backend interface {
	Keys
	// Location tells where records are kept from every other location that the
	// same lease may name.
	Location() string
	// Create makes an empty record; it fails when there is one of that name.
	Create(ctx context.Context, run string) error
	// Append adds the line that has position seq, counting from 1. It is durable
	// when Append returns nil, and may be there or not when it returns an error.
	Append(ctx context.Context, run string, seq int, line []byte) error
	// Read gives the complete lines of a record. A torn last line is skipped.
	Read(ctx context.Context, run string) ([][]byte, error)
	// ReadLine gives one line of a record, without its line feed.
	ReadLine(ctx context.Context, run string, seq int) ([]byte, error)
	// Runs names all records, oldest first.
	Runs(ctx context.Context) ([]string, error)
	// PutExport keeps data apart from the record. Data that is there under the name
	// already is kept when it is the same, and an error of class Conflict otherwise.
	PutExport(ctx context.Context, run, name string, data []byte) error
	// Export gives what PutExport kept; *MissingError when there is none.
	Export(ctx context.Context, run, name string) ([]byte, error)
	// Delete removes a record and its exports.
	Delete(ctx context.Context, run string) error
}

// Store is a backend that hands out leases as well.
type Store interface {
	Backend
	Locker
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

// Tearable is a backend whose last line a crash can tear.
type Tearable interface {
	// Torn tells whether something stands behind the last complete line of a record: an entry that was being written
	// when its process died, or is being written now.
	Torn(ctx context.Context, run string) (bool, error)
}

// lastLineTorn tells whether the last line of a record is torn, where that can happen.
func lastLineTorn(ctx context.Context, backend Backend, run string) (bool, error) {
	tearable, can := backend.(Tearable)
	if !can {
		return false, nil
	}
	return tearable.Torn(ctx, run)
}

// Location is where records are kept, and who hands out the leases on their
// targets: the world itself whenever it can be reached, wherever the records are.
type Location struct {
	Backend
	Locker
	// Where is what people call it.
	Where string
	// ID tells it from every other location, on whatever machine it is looked at.
	// It is needed to migrate a record.
	ID string
}

// LocationOf is a store as a location.
func LocationOf(store Store, where string) *Location {
	return &Location{Backend: store, Locker: store, Where: where}
}

// AppendLines adds several lines, at once where the backend can.
func (l *Location) AppendLines(ctx context.Context, run string, seq int, lines [][]byte) error {
	return appendLines(ctx, l.Backend, run, seq, lines)
}

// Torn tells whether the last line of a record is torn, where that can happen.
func (l *Location) Torn(ctx context.Context, run string) (bool, error) {
	return lastLineTorn(ctx, l.Backend, run)
}

// MissingError says that there is no record of a run.
type MissingError struct{ Run, Where string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("run %q not found in the journal at %s", e.Run, e.Where)
}

// WriteError says that a record can't be written any more: what it announces must
// not be done, and what became of the last change can't be kept. It unwraps to the
// cause, which is a *LostError when the lease is another's.
type WriteError struct {
	Run string
	// Seq is the position of the first entry that was to be written.
	Seq int
	Err error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("writing entry %d of run %q: %v", e.Seq, e.Run, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }
