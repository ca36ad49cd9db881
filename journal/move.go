package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"salve/internal/apierr"
)

// Place is a backend with its name.
type Place struct {
	Backend
	// Where is what people call it.
	Where string
	// ID tells it from every other place, on whatever machine it is looked at. It
	// is needed to move a record.
	ID string
}

// AppendLines adds several lines, at once where the backend can.
func (p Place) AppendLines(ctx context.Context, run string, seq int, lines [][]byte) error {
	return appendLines(ctx, p.Backend, run, seq, lines)
}

// Carriage is a record on its way from one place to another.
type Carriage struct {
	Run      string
	From, To Place
	Holder   Holder
	Now      func() time.Time
}

// Carry brings a record to another place. A closed run is copied. An open one is
// moved: it is closed where it was before it opens where it goes, so that two
// leases never guard one run. The destination is made ready before anything is
// closed; where a carriage was cut off all the same, it goes on when it is asked
// for again, and to no other destination.
func (c Carriage) Carry(ctx context.Context) (_ *Record, err error) {
	record, err := Load(ctx, c.From, c.Run)
	switch {
	case err != nil:
		return nil, err
	case len(record.Entries) == 0:
		return nil, apierr.New(apierr.Missing, "the record of run %q is empty", c.Run)
	case record.Away != nil && record.Away.ID != c.To.ID:
		return nil, apierr.New(apierr.Conflict, "run %q was moved to %s: bring it from there", c.Run, record.Away.Where)
	}
	above := record.Epoch
	if record.Closed == nil {
		lease, locked := c.From.Lock(ctx, c.claim(record, above))
		if locked != nil {
			return nil, fmt.Errorf("closing run %q in %s: %w", c.Run, c.From.Where, locked)
		}
		defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
		above = lease.Epoch()
	}
	lease, err := c.To.Lock(ctx, c.claim(record, above))
	if err != nil {
		return nil, fmt.Errorf("bringing run %q to %s: %w", c.Run, c.To.Where, err)
	}
	defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
	if err := c.prepare(ctx); err != nil {
		return nil, fmt.Errorf("bringing run %q to %s: %w", c.Run, c.To.Where, err)
	}
	if record.Closed == nil {
		if err := c.leave(ctx, above); err != nil {
			return nil, fmt.Errorf("closing run %q in %s: %w", c.Run, c.From.Where, err)
		}
	}
	arrived, err := c.arrive(ctx, lease.Epoch())
	if err != nil {
		return nil, fmt.Errorf("bringing run %q to %s, which the same command finishes: %w", c.Run, c.To.Where, err)
	}
	return arrived, nil
}

func (c Carriage) claim(record *Record, above int64) Claim {
	holder := c.Holder
	holder.Run, holder.Since = c.Run, c.Now().UTC()
	return Claim{Target: record.Header.Target.ID, Holder: holder, Above: above}
}

// prepare makes an empty record at the destination, or finds a beginning of this
// one there, or more of it. An empty record can't be gone on with.
func (c Carriage) prepare(ctx context.Context) error {
	_, err := c.missing(ctx)
	var absent *MissingError
	if errors.As(err, &absent) {
		return c.To.Create(ctx, c.Run)
	}
	return err
}

// missing are the lines that the destination does not hold yet. It fails with
// class Conflict when it holds another record of that name.
func (c Carriage) missing(ctx context.Context) ([][]byte, error) {
	lines, err := c.From.Read(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	kept, err := c.To.Read(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	for i := range min(len(lines), len(kept)) {
		if !bytes.Equal(kept[i], lines[i]) {
			return nil, apierr.New(apierr.Conflict, "there is another record of that name: they differ from line %d on", i+1)
		}
	}
	return lines[min(len(lines), len(kept)):], nil
}

// leave writes, under the source's lease of that epoch, that the run is elsewhere
// from now on. It may have been closed before the lease was ours.
func (c Carriage) leave(ctx context.Context, epoch int64) error {
	record, err := Load(ctx, c.From, c.Run)
	if err != nil || record.Closed != nil {
		return err
	}
	record.Continue(c.Now, epoch)
	return record.Append(ctx, Moved, "", Move{Where: c.To.Where, ID: c.To.ID})
}

// arrive copies what is missing and opens the run if it was open.
func (c Carriage) arrive(ctx context.Context, epoch int64) (*Record, error) {
	lines, err := c.missing(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := c.To.Read(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		if err := c.To.Append(ctx, c.Run, len(kept)+i+1, append(bytes.Clone(line), '\n')); err != nil {
			return nil, err
		}
	}
	there, err := Load(ctx, c.To, c.Run)
	if err != nil || there.Away == nil || there.Away.ID != c.To.ID {
		return there, err
	}
	there.Continue(c.Now, epoch)
	return there, there.Append(ctx, Arrived, "", Move{Where: c.From.Where, ID: c.From.ID})
}
