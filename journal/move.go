package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"salve/fault"
)

// Place is a backend and what people call it.
type Place struct {
	Backend
	Where string
}

// Carriage is a record on its way from one backend to another.
type Carriage struct {
	Run      string
	From, To Place
	Holder   Holder
	Now      func() time.Time
}

// Carry brings a record to another backend. A closed run is copied. An open one is
// moved: it is closed where it was before it opens where it goes, so that two
// leases never guard one run. Where it was cut off it goes on when it is asked for
// again.
func (c Carriage) Carry(ctx context.Context) (*Record, error) {
	record, err := Load(ctx, c.From, c.Run)
	if err != nil {
		return nil, err
	}
	if len(record.Entries) == 0 {
		return nil, fault.New(fault.Missing, "the record of run %q is empty", c.Run)
	}
	if record.Closed == nil {
		if record, err = c.leave(ctx, record); err != nil {
			return nil, fmt.Errorf("closing run %q in %s: %w", c.Run, c.From.Where, err)
		}
	}
	arrived, err := c.arrive(ctx, record)
	if err != nil {
		return nil, fmt.Errorf("bringing run %q to %s: %w", c.Run, c.To.Where, err)
	}
	return arrived, nil
}

// leave writes under the source's lease that the run is elsewhere from now on.
func (c Carriage) leave(ctx context.Context, record *Record) (_ *Record, err error) {
	lease, err := c.From.Lock(ctx, c.claim(record))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
	if record, err = Load(ctx, c.From, c.Run); err != nil || record.Closed != nil {
		return record, err
	}
	record.Continue(c.Now, lease.Epoch())
	return record, record.Append(ctx, Moved, "", Message{Text: c.To.Where})
}

func (c Carriage) claim(record *Record) Claim {
	holder := c.Holder
	holder.Run, holder.Since = c.Run, c.Now().UTC()
	return Claim{Target: record.Header.Target.ID, Holder: holder, Above: record.Epoch}
}

// arrive copies the lines under the destination's lease and opens the run there
// if it was open.
func (c Carriage) arrive(ctx context.Context, record *Record) (_ *Record, err error) {
	lease, err := c.To.Lock(ctx, c.claim(record))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
	ahead, err := c.copyLines(ctx)
	if err != nil {
		return nil, err
	}
	there, err := Load(ctx, c.To, c.Run)
	if err != nil || ahead || !there.Away {
		return there, err
	}
	there.Continue(c.Now, lease.Epoch())
	return there, there.Append(ctx, Arrived, "", Message{Text: c.From.Where})
}

// copyLines adds the lines that are missing. The destination may hold a part of
// the record already, or more of it: then it is ahead. It may not hold another one.
func (c Carriage) copyLines(ctx context.Context) (ahead bool, err error) {
	lines, err := c.From.Read(ctx, c.Run)
	if err != nil {
		return false, err
	}
	kept, err := c.To.Read(ctx, c.Run)
	var missing *MissingError
	if errors.As(err, &missing) {
		err = c.To.Create(ctx, c.Run)
	}
	if err != nil {
		return false, err
	}
	for i, line := range lines {
		switch {
		case i >= len(kept):
			if err := c.To.Append(ctx, c.Run, i+1, append(bytes.Clone(line), '\n')); err != nil {
				return false, err
			}
		case !bytes.Equal(kept[i], line):
			return false, fault.New(fault.Conflict, "there is another record of that name: they differ from line %d on", i+1)
		}
	}
	return len(kept) > len(lines), nil
}
