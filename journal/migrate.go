package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/apierr"
)

// Migration is a record on its way from one location to another.
type Migration struct {
	Run      string
	From, To Location
	Holder   Holder
	Now      func() time.Time
}

// Migrate brings a record to another location, with its exports. A closed run is
// copied. An open one is closed where it was before it opens where it goes, so that
// it is never open twice. The destination is made ready before anything is closed;
// where a migration was cut off all the same, the same command finishes it, and no
// other destination is taken.
//
// The lines are sealed anew with the key of where they go. The entries and their
// hashes stay as they are.
func (m Migration) Migrate(ctx context.Context) (_ *Record, err error) {
	record, err := Load(ctx, m.From, m.Run)
	switch {
	case err != nil:
		return nil, err
	case len(record.Entries) == 0:
		return nil, apierr.New(apierr.Missing, "the record of run %q is empty", m.Run)
	case record.MigratedTo != nil && record.MigratedTo.ID != m.To.ID:
		return nil, apierr.New(apierr.Conflict, "conflict: run %q was migrated to %s: bring it from there",
			m.Run, record.MigratedTo.Where)
	}
	lease, err := m.lockers().Lock(ctx, m.claim(record))
	if err != nil {
		return nil, fmt.Errorf("migrating run %q to %s: %w", m.Run, m.To.Where, err)
	}
	defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
	key, err := m.prepare(ctx, record)
	if err != nil {
		return nil, fmt.Errorf("migrating run %q to %s: %w", m.Run, m.To.Where, err)
	}
	if record.Closed == nil {
		if err := m.leave(ctx, lease); err != nil {
			return nil, fmt.Errorf("closing run %q in %s: %w", m.Run, m.From.Where, err)
		}
	}
	arrived, err := m.arrive(ctx, key, lease)
	if err != nil {
		return nil, fmt.Errorf("migrating run %q to %s, which the same command finishes: %w", m.Run, m.To.Where, err)
	}
	return arrived, nil
}

// lockers are those of both locations, each once: a lease in the world may be that
// of both.
func (m Migration) lockers() Lockers {
	var all Lockers
	for _, locker := range []Locker{m.From.Locker, m.To.Locker} {
		several, joined := locker.(Lockers)
		if !joined {
			several = Lockers{locker}
		}
		for _, one := range several {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

func (m Migration) claim(record *Record) Claim {
	holder := m.Holder
	holder.Run, holder.Since = m.Run, m.Now().UTC()
	return Claim{Target: record.Header.Target.ID, Holder: holder, Above: record.Epoch}
}

// prepare makes an empty record at the destination, or finds a beginning of this
// one there, or more of it. An empty record can't be resumed.
func (m Migration) prepare(ctx context.Context, record *Record) (Key, error) {
	key, err := m.To.MakeKey(ctx, record.Header.Runbook)
	if err != nil {
		return Key{}, err
	}
	_, _, err = m.missing(ctx, key)
	var absent *MissingError
	if errors.As(err, &absent) {
		return key, m.To.Create(ctx, m.Run)
	}
	return key, err
}

// missing are the lines, sealed anew, that the destination does not hold yet, and
// the number of those that it does. It fails with class Conflict when it holds
// another record of that name.
func (m Migration) missing(ctx context.Context, key Key) ([][]byte, int, error) {
	record, err := Load(ctx, m.From, m.Run)
	if err != nil {
		return nil, 0, err
	}
	lines, err := resealed(record, key)
	if err != nil {
		return nil, 0, err
	}
	kept, err := m.To.Read(ctx, m.Run)
	if err != nil {
		return nil, 0, err
	}
	for i := range min(len(lines), len(kept)) {
		if !bytes.Equal(kept[i], bytes.TrimSuffix(lines[i], []byte("\n"))) {
			return nil, 0, apierr.New(apierr.Conflict,
				"conflict: there is another record of that name: they differ from line %d on", i+1)
		}
	}
	return lines[min(len(lines), len(kept)):], len(kept), nil
}

// resealed are a record's lines under another key.
func resealed(record *Record, key Key) ([][]byte, error) {
	var lines [][]byte
	before := mark{}
	for i, entry := range record.Entries {
		body, err := json.Marshal(entry)
		if err != nil {
			return nil, err
		}
		line, at, err := sealLine(key, body, entry.Seq, before)
		if err != nil {
			return nil, err
		}
		if at.sum != record.marks[i].sum {
			return nil, &BrokenError{
				Run: record.Run, Line: i + 1, Reason: "the entry is not encoded as this version does",
				Target: record.Header.Target.ID,
			}
		}
		lines, before = append(lines, line), at
	}
	return lines, nil
}

// leave writes that the run is elsewhere from now on. It may have been closed
// before the lease was ours.
func (m Migration) leave(ctx context.Context, lease Lease) error {
	record, err := Load(ctx, m.From, m.Run)
	if err != nil || record.Closed != nil {
		return err
	}
	if err := record.Reopen(lease, m.Now); err != nil {
		return err
	}
	return record.Append(ctx, Migrated, "", Destination{Where: m.To.Where, ID: m.To.ID})
}

// arrive copies what is missing and opens the run if it was open.
func (m Migration) arrive(ctx context.Context, key Key, lease Lease) (*Record, error) {
	if err := m.copyExports(ctx); err != nil {
		return nil, err
	}
	lines, kept, err := m.missing(ctx, key)
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		if err := m.To.Append(ctx, m.Run, kept+i+1, line); err != nil {
			return nil, err
		}
	}
	there, err := Load(ctx, m.To, m.Run)
	if err != nil || there.Closed != nil && (there.MigratedTo == nil || there.MigratedTo.ID != m.To.ID) {
		return there, err
	}
	// Its beginning was compared with the record that it comes from: the lease need
	// not vouch for it, as one that guards another location can't.
	there.lease, there.now = lease, m.Now
	if there.MigratedTo == nil {
		return there, there.setHead(ctx) // cut off between the line and the lease
	}
	return there, there.Append(ctx, Arrived, "", Destination{Where: m.From.Where, ID: m.From.ID})
}

// copyExports brings all that the record names, before the lines that name it.
func (m Migration) copyExports(ctx context.Context) error {
	record, err := Load(ctx, m.From, m.Run)
	if err != nil {
		return err
	}
	for _, entry := range record.Entries {
		_, export := privateOf(entry)
		if entry.Kind == Exported {
			export = new(Export)
			if err := json.Unmarshal(entry.Data, export); err != nil {
				return err
			}
		}
		if export == nil {
			continue
		}
		data, err := readExport(ctx, m.From, m.Run, *export)
		if err == nil {
			err = m.To.PutExport(ctx, m.Run, export.file(), data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
