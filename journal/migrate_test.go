package journal_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

func place(t *testing.T, name string) journal.Location {
	store := journal.NewFile(t.TempDir())
	return journal.Location{Backend: store, Locker: store, Where: name, ID: name}
}

// begin opens a run in a place.
func begin(t *testing.T, at journal.Location) {
	t.Helper()
	header := journal.Header{Schema: 1, Run: "run-1", Runbook: "mend", Version: "1", Target: runbook.Target{ID: "lamp/1"}}
	lease, err := at.Lock(ctx, journal.Claim{Target: "lamp/1", Above: 4})
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Create(ctx, at, lease, now, header)
	if err != nil {
		t.Fatal(err)
	}
	err = record.Append(ctx, journal.Noted, "", journal.Note{Name: "n", Value: []byte(`"kept"`)})
	if err := errors.Join(err, lease.Release(ctx)); err != nil {
		t.Fatal(err)
	}
}

func migrate(from, to journal.Location) (*journal.Record, error) {
	return journal.Migration{Run: "run-1", From: from, To: to, Now: now}.Migrate(ctx)
}

func load(t *testing.T, at journal.Location) *journal.Record {
	t.Helper()
	record, err := journal.Load(ctx, at, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func TestAnOpenRunIsMovedThereAndBack(t *testing.T) {
	home, cluster := place(t, "home"), place(t, "the cluster")
	begin(t, home)
	for _, way := range [][2]journal.Location{{home, cluster}, {cluster, home}, {home, cluster}} {
		from, to := way[0], way[1]
		moved, err := migrate(from, to)
		if err != nil {
			t.Fatal(err)
		}
		var kept string
		if _, err := moved.Recall("n", &kept); err != nil || kept != "kept" || moved.Closed != nil {
			t.Errorf("in %s it is closed: %v; its note is %q, %v", to.Where, moved.Closed, kept, err)
		}
		left := load(t, from)
		if left.Closed == nil || !strings.Contains(left.Closed.Reason, to.Where) {
			t.Errorf("in %s it is still open: %+v", from.Where, left.Closed)
		}
		if err := left.Append(ctx, journal.Resumed, "", journal.Resumption{}); apierr.ClassOf(err) != apierr.Conflict {
			t.Errorf("writing where it was: %v", err)
		}
		lease, err := to.Lock(ctx, journal.Claim{Target: "lamp/1"})
		if err != nil || lease.Epoch() <= moved.Epoch {
			t.Errorf("epoch %v after a record of epoch %d: %v", lease, moved.Epoch, err)
		}
		_ = lease.Release(ctx)
	}
}

// dying is a backend that fails after some writes.
type dying struct {
	journal.Backend
	left int
}

func (d *dying) Append(ctx context.Context, run string, seq int, line []byte) error {
	if d.left--; d.left < 0 {
		return errors.New("killed")
	}
	return d.Backend.Append(ctx, run, seq, line)
}

// TestAMoveThatWasCutOffGoesOn: at whatever write it dies, the run is never open in
// both places, and the same command finishes it.
func TestAMoveThatWasCutOffGoesOn(t *testing.T) {
	for writes := range 6 {
		from, to := place(t, "from"), place(t, "to")
		begin(t, from)
		life := &dying{left: writes}
		mortal := func(p journal.Location) journal.Location {
			return journal.Location{Backend: &sharing{p.Backend, life}, Locker: p.Locker, Where: p.Where, ID: p.ID}
		}
		_, died := migrate(mortal(from), mortal(to))
		open := load(t, from).Closed == nil
		if there, err := journal.Load(ctx, to, "run-1"); err == nil && open && there.Header.Run != "" && there.Closed == nil {
			t.Errorf("after %d writes it is open in both", writes)
		}
		moved, err := migrate(from, to)
		if err != nil || moved.Closed != nil || load(t, from).Closed == nil {
			t.Errorf("after %d writes (%v) it can't be finished: %v", writes, died, err)
		}
	}
}

// sharing counts the writes of two backends as one life's.
type sharing struct {
	journal.Backend
	life *dying
}

func (s *sharing) Append(ctx context.Context, run string, seq int, line []byte) error {
	s.life.Backend = s.Backend
	return s.life.Append(ctx, run, seq, line)
}

func TestAClosedRunIsCopied(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	begin(t, from)
	record := load(t, from)
	if err := record.Reopen(journal.NoLease(6), now); err != nil {
		t.Fatal(err)
	}
	if err := record.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is there
		if copied, err := migrate(from, to); err != nil || copied.Closed.Outcome != runbook.Remediated ||
			len(copied.Entries) != 3 {
			t.Errorf("%+v, %v", copied, err)
		}
	}
	if left := load(t, from); left.Closed.Outcome != runbook.Remediated || len(left.Entries) != 3 {
		t.Errorf("the original: %+v", left.Closed)
	}
}

func TestAnotherRecordOfThatNameIsNotTouched(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	begin(t, from)
	header := journal.Header{Schema: 1, Run: "run-1", Runbook: "other", Target: runbook.Target{ID: "lamp/2"}}
	if _, err := journal.Create(ctx, to, journal.NoLease(1), now, header); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate(from, to); apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("over another record: %v", err)
	}
	if there := load(t, to); there.Header.Runbook != "other" || len(there.Entries) != 1 {
		t.Errorf("it was changed: %+v", there.Header)
	}
}

// TestAMovedRunGoesToOnePlace: it was told where it is, and is not opened anywhere
// else.
func TestAMovedRunGoesToOnePlace(t *testing.T) {
	from, to, other := place(t, "from"), place(t, "to"), place(t, "other")
	begin(t, from)
	if _, err := migrate(from, to); err != nil {
		t.Fatal(err)
	}
	_, err := migrate(from, other)
	if apierr.ClassOf(err) != apierr.Conflict || !strings.Contains(err.Error(), "migrated to to") {
		t.Errorf("to another place: %v", err)
	}
	var missing *journal.MissingError
	if _, err := journal.Load(ctx, other, "run-1"); !errors.As(err, &missing) {
		t.Errorf("there it is: %v", err)
	}
}

// TestADestinationThatCannotBeWrittenClosesNothing keeps the run where it is.
func TestADestinationThatCannotBeWrittenClosesNothing(t *testing.T) {
	from := place(t, "from")
	begin(t, from)
	nowhere := journal.Location{
		Backend: journal.NewFile("/proc/nowhere"), Locker: journal.NewFile("/proc/nowhere"), Where: "nowhere", ID: "nowhere",
	}
	if _, err := migrate(from, nowhere); err == nil {
		t.Error("it went nowhere")
	}
	if left := load(t, from); left.Closed != nil {
		t.Errorf("it is closed: %+v", left.Closed)
	}
}

// TestARecordThatWentOnComesBackWhole: what was added where it was moved to is
// added where it was.
func TestARecordThatWentOnComesBackWhole(t *testing.T) {
	home, away := place(t, "home"), place(t, "away")
	begin(t, home)
	moved, err := migrate(home, away)
	if err != nil {
		t.Fatal(err)
	}
	if err := moved.Reopen(journal.NoLease(9), now); err != nil {
		t.Fatal(err)
	}
	if err := moved.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated}); err != nil {
		t.Fatal(err)
	}
	back, err := migrate(away, home)
	if err != nil || back.Closed == nil || back.Closed.Outcome != runbook.Remediated || back.MigratedTo != nil {
		t.Errorf("back home: %+v, %v", back, err)
	}
}

// TestExportsGoWithTheRecord: what is kept apart arrives before what names it.
func TestExportsGoWithTheRecord(t *testing.T) {
	from, to := place(t, "from"), place(t, "to")
	begin(t, from)
	record := load(t, from)
	err := errors.Join(record.Reopen(journal.NoLease(6), now), record.PutExport(ctx, "bundle", []byte("definition")),
		record.Append(ctx, journal.Noted, "", journal.Note{Name: "pod", Value: []byte(`"--password=hunter2"`)}))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := migrate(from, to)
	if err != nil {
		t.Fatal(err)
	}
	var pod string
	if data, err := moved.ReadExport(ctx, "bundle"); err != nil || string(data) != "definition" {
		t.Errorf("export %q, %v", data, err)
	}
	if _, err := load(t, to).Recall("pod", &pod); err != nil || pod != "--password=hunter2" {
		t.Errorf("note %q, %v", pod, err)
	}
}
