package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"salve/internal/apierr"
	"salve/internal/recordable"
)

// Record is one run's journal, open for appending.
type Record struct {
	*History
	Run     string
	backend Backend
	key     Key
	lease   Lease
	now     func() time.Time
	// memory guards what the record knows while an entry is added to it. Nothing
	// waits for a disk or a server under it.
	memory sync.RWMutex
	// marks are the stored lines, to know them again.
	marks []mark
	// refused is why nothing may be written any more.
	refused error
}

// Create opens a new record with its header, under the lease on its target, which
// names the run from then on.
func Create(ctx context.Context, backend Backend, lease Lease, now func() time.Time, header Header) (*Record, error) {
	key, err := backend.MakeKey(ctx, header.Runbook)
	if err != nil {
		return nil, fmt.Errorf("creating the record of run %q: %w", header.Run, err)
	}
	if err := backend.Create(ctx, header.Run); err != nil {
		return nil, fmt.Errorf("creating the record of run %q: %w", header.Run, err)
	}
	record := &Record{History: newHistory(), Run: header.Run, backend: backend, key: key, now: now, lease: lease}
	if err := record.Append(ctx, Opened, "", header); err != nil {
		return nil, err
	}
	return record, nil
}

// Load reads a run's record and verifies it, chain and seals. It fails with
// *BrokenError, *UnsealedError, *UnverifiedError or *MissingError. A record without any
// line is given as it is: its process died before it announced anything.
func Load(ctx context.Context, backend Backend, run string) (*Record, error) {
	if err := CheckRunName(run); err != nil {
		return nil, err
	}
	lines, err := backend.Read(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("reading the record of run %q: %w", run, err)
	}
	chain, err := decode(run, lines)
	if err != nil {
		return nil, ours(ctx, backend, chain, err)
	}
	record := &Record{Run: run, backend: backend, marks: chain.marks}
	if len(chain.entries) > 0 {
		if record.key, err = keyOf(ctx, backend, chain); err != nil {
			return nil, err
		}
	}
	private, unread := loadPrivate(ctx, backend, run, chain.entries)
	if record.History, err = replay(chain.entries, private, unread); err != nil {
		return nil, chain.broken(len(chain.entries), err.Error())
	}
	if err := record.unreadInputs(); err != nil {
		return nil, err
	}
	if record.Torn, err = lastLineTorn(ctx, backend, run); err != nil {
		return nil, fmt.Errorf("looking for a torn line of run %q: %w", run, err)
	}
	return record, nil
}

// ours marks a broken record whose header carries the seal of our key.
func ours(ctx context.Context, keys Keys, chain *chained, err error) error {
	var broken *BrokenError
	if !errors.As(err, &broken) || len(chain.entries) == 0 || chain.sealed() != nil {
		return err
	}
	key, missing := keys.Key(ctx, chain.header.Runbook)
	broken.Ours = missing == nil && key.sealed(chain.marks[0].seal, linePurpose, nil, chain.bodies[0])
	return err
}

// keyOf gives the key that a record is sealed with, once it is shown to be.
func keyOf(ctx context.Context, keys Keys, chain *chained) (Key, error) {
	if err := chain.sealed(); err != nil {
		return Key{}, err
	}
	key, err := keys.Key(ctx, chain.header.Runbook)
	if err != nil {
		return Key{}, chain.unverified(err)
	}
	if err := chain.verify(key); err != nil {
		return Key{}, ours(ctx, keys, chain, err)
	}
	return key, nil
}

// Clone gives a copy that goes on from here and is kept nowhere: for previews.
func (r *Record) Clone(ctx context.Context, now func() time.Time) (*Record, error) {
	history, err := replay(r.Entries, maps.Clone(r.private), r.unread)
	if err != nil {
		return nil, err
	}
	nowhere := NewMemory()
	if err := nowhere.Create(ctx, r.Run); err != nil {
		return nil, err
	}
	return &Record{
		History: history, Run: r.Run, backend: nowhere, now: now, marks: slices.Clone(r.marks), key: r.key,
		lease: NoLease(r.Epoch),
	}, nil
}

// Backend is where the record is kept.
func (r *Record) Backend() Backend { return r.backend }

// Reopen makes a loaded record writable under a new lease. It fails with
// *BrokenError when the record is shorter than the lease knows, with *HeadError
// when the lease can't vouch for a record longer than its header, and with class
// Conflict when the lease's epoch is not above the record's.
func (r *Record) Reopen(lease Lease, now func() time.Time) error {
	if err := r.verifyHead(lease); err != nil {
		return err
	}
	return r.reopen(lease, now)
}

// Adopt is Reopen for an operator who has looked at a record that the lease does not
// vouch for: from now on it does.
func (r *Record) Adopt(ctx context.Context, lease Lease, now func() time.Time) error {
	for _, known := range namedBy(lease) {
		if known.Run != r.Run && !known.Closed {
			return apierr.New(apierr.Conflict, "conflict: the lease names run %q as open. "+
				"hint: salve runs abandon %s --target %s --reason TEXT", known.Run, known.Run, known.Target)
		}
	}
	if err := r.reopen(lease, now); err != nil {
		return err
	}
	return r.setHead(ctx)
}

func (r *Record) reopen(lease Lease, now func() time.Time) error {
	if lease.Epoch() <= r.Epoch {
		return apierr.New(apierr.Conflict, "conflict: run %q was last written under epoch %d, the lease has epoch %d",
			r.Run, r.Epoch, lease.Epoch())
	}
	r.lease, r.now = lease, now
	return nil
}

// Pending is an entry before it is written.
type Pending struct {
	Kind Kind
	Step string
	Data any
}

// Append writes an entry, durably. When it fails, nothing may be done that the
// entry announces.
func (r *Record) Append(ctx context.Context, kind Kind, step string, data any) error {
	return r.AppendAll(ctx, Pending{kind, step, data})
}

// AppendAll writes entries in their order, durably, and at the cost of one where
// the backend can. Then the lease holds the record's new head. When it fails, with
// *WriteError, a beginning of them may be there, nothing may be done that any of
// them announces, and nothing is written any more: what is there is not known.
func (r *Record) AppendAll(ctx context.Context, pending ...Pending) error {
	if r.refused != nil {
		return r.refused
	}
	entries, lines, marks, err := r.encode(ctx, pending)
	if err != nil {
		return err
	}
	seq := len(r.Entries) + 1
	if err := appendLines(ctx, r.backend, r.Run, seq, lines); err != nil {
		return r.refuse(ctx, seq, err)
	}
	if err := r.learn(entries, marks); err != nil {
		return r.refuse(ctx, seq, err)
	}
	// After the lines: a head that is ahead of its record would call it broken.
	if err := r.setHead(ctx); err != nil {
		return r.refuse(ctx, seq, err)
	}
	return nil
}

// learn adds stored entries to what the record knows.
func (r *Record) learn(entries []Entry, marks []mark) error {
	r.memory.Lock()
	defer r.memory.Unlock()
	r.marks = append(r.marks, marks...)
	r.Torn = false // what was torn is cut off before anything is added
	for _, entry := range entries {
		if err := r.add(entry); err != nil {
			return err
		}
	}
	return nil
}

// View sees the record as it is between two additions: while one goroutine appends,
// others read through it alone. It does not wait for entries to become durable.
func (r *Record) View(see func(*Record)) {
	r.memory.RLock()
	defer r.memory.RUnlock()
	see(r)
}

// refuse makes the record read-only. A line that somebody else wrote at our place
// was written by who holds the lease.
func (r *Record) refuse(ctx context.Context, seq int, err error) error {
	var known *LostError
	if apierr.ClassOf(err) == apierr.Conflict && !errors.As(err, &known) {
		if gone := r.lease.Check(ctx); gone != nil && apierr.ClassOf(gone) == apierr.Conflict {
			err = fmt.Errorf("%w: %w", gone, err)
		}
	}
	r.refused = &WriteError{Run: r.Run, Seq: seq, Err: err}
	return r.refused
}

func (r *Record) encode(
	ctx context.Context, pending []Pending,
) (entries []Entry, lines [][]byte, marks []mark, err error) {
	if r.lease == nil && r.MigratedTo == nil {
		return nil, nil, nil, apierr.New(apierr.Terminal, "record of run %q is not open for appending", r.Run)
	}
	before := r.head()
	for _, one := range pending {
		if r.MigratedTo != nil && one.Kind != Arrived && one.Kind != Closed {
			return nil, nil, nil, apierr.New(apierr.Conflict, "conflict: run %q was migrated to %s: its record is closed here",
				r.Run, r.MigratedTo.Where)
		}
		seq := len(r.Entries) + len(entries) + 1
		data, err := r.masked(ctx, seq, one)
		if err != nil {
			return nil, nil, nil, err
		}
		entry := Entry{
			Seq: seq, At: r.now().UTC(), Kind: one.Kind, Epoch: r.lease.Epoch(), Step: one.Step, Data: data, Prev: before.sum,
		}
		raw, at, err := encode(r.key, entry, before)
		if err != nil {
			return nil, nil, nil, err
		}
		entries, lines, marks, before = append(entries, entry), append(lines, raw), append(marks, at), at
	}
	return entries, lines, marks, nil
}

// head is the newest line.
func (r *Record) head() mark {
	if len(r.marks) == 0 {
		return mark{}
	}
	return r.marks[len(r.marks)-1]
}

// Stored is a note as the record's memory knows it: enough to read it back from
// where it is kept while entries are added.
type Stored struct {
	backend Backend
	run     string
	name    string
	target  string
	seq     int
	want    mark
}

// Stored finds the newest note of a name; a step's own where the name is that of its
// resume token.
func (r *Record) Stored(step, name string) (Stored, bool) {
	seq, found := r.noted[noteKey(step, name)]
	if !found {
		return Stored{}, false
	}
	return Stored{
		backend: r.backend, run: r.Run, name: name, target: r.Header.Target.ID, seq: seq, want: r.marks[seq-1],
	}, true
}

// ReadBack reads the newest note of a name from where the record is kept.
func (r *Record) ReadBack(ctx context.Context, name string, into any) (bool, error) {
	stored, found := r.Stored("", name)
	if !found {
		return false, nil
	}
	if err := stored.Read(ctx, into); err != nil {
		return false, err
	}
	return true, nil
}

// Read reads the one line, and verifies that it is the one that was written.
func (s Stored) Read(ctx context.Context, into any) error {
	raw, err := s.backend.ReadLine(ctx, s.run, s.seq)
	if err != nil {
		return fmt.Errorf("reading note %q back from the journal: %w", s.name, err)
	}
	var kept line
	err = recordable.UnmarshalStrict(raw, &kept)
	if err != nil || hash(kept.Entry) != s.want.sum || kept.Sum != s.want.sum ||
		kept.Seal != s.want.seal {
		return &BrokenError{Run: s.run, Line: s.seq, Reason: "the line is not the one that was written", Target: s.target}
	}
	var entry Entry
	var note Note
	if err := json.Unmarshal(kept.Entry, &entry); err != nil {
		return err
	}
	if err := json.Unmarshal(entry.Data, &note); err != nil {
		return err
	}
	value := note.Value
	if note.Private != nil {
		if value, err = readExport(ctx, s.backend, s.run, *note.Private); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("reading note %q back from the journal: %w", s.name, err)
	}
	return nil
}

// Find gives the records that match, oldest first. A record that can't be read
// is reported through broken and skipped.
func Find(
	ctx context.Context, backend Backend, match func(*History) bool, broken func(run string, err error),
) ([]*Record, error) {
	runs, err := backend.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the journal: %w", err)
	}
	var found []*Record
	for _, run := range runs {
		record, err := Load(ctx, backend, run)
		if err != nil {
			broken(run, err)
			continue
		}
		if len(record.Entries) > 0 && match(record.History) {
			found = append(found, record)
		}
	}
	return found, nil
}
