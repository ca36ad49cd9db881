package journal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// TestLoadedRecordIsReadOnly: until it is reopened under a lease.
func TestLoadedRecordIsReadOnly(t *testing.T) {
	backend, _ := written(t)
	record := mustLoad(t, backend)
	err := record.Append(ctx, journal.Warned, "", journal.Message{Text: "x"})
	if apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), "not open for appending") {
		t.Errorf("got %v", err)
	}
	if record.Backend() != journal.Backend(backend) {
		t.Error("it names another backend")
	}
}

// TestPreviewIsKeptNowhere: it goes on from where the record is, knows its values, and
// changes nothing of it.
func TestPreviewIsKeptNowhere(t *testing.T) {
	s := newScene(t)
	before, err := s.store.Read(ctx, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	preview, err := s.record.Clone(ctx, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := preview.Append(ctx, journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated}); err != nil {
		t.Fatal(err)
	}
	var pod struct{ Args []string }
	if found, err := preview.Recall("pod", &pod); !found || err != nil || len(pod.Args) != 1 || pod.Args[0] != secret {
		t.Errorf("recalled %v, %v", pod, err)
	}
	after, err := s.store.Read(ctx, "run-1")
	if err != nil || len(after) != len(before) || s.record.Closed != nil || len(s.record.Entries) != len(before) {
		t.Errorf("%d lines after %d, closed %v, %v", len(after), len(before), s.record.Closed, err)
	}
	last := preview.Entries[len(preview.Entries)-1]
	if preview.Closed == nil || last.Seq != len(before)+1 || last.Epoch != s.record.Epoch || last.Prev == "" {
		t.Errorf("the preview's last entry is %+v", last)
	}
	if named := s.lease.OpenRun(); named.Closed || named.Seq != len(before) {
		t.Errorf("the lease names %+v", named)
	}
}

// TestPreviewOfARecordThatCannotBeReplayed: an entry that somebody changed in memory.
func TestPreviewOfARecordThatCannotBeReplayed(t *testing.T) {
	s := newScene(t)
	s.record.Entries[1].Kind = "novel"
	if _, err := s.record.Clone(ctx, now); err == nil || !strings.Contains(err.Error(), "entry 2") {
		t.Errorf("got %v", err)
	}
}

// conflicting is a store in which somebody else writes our line.
type conflicting struct {
	journal.Store
	conflict bool
}

func (c *conflicting) Append(ctx context.Context, run string, seq int, line []byte) error {
	if c.conflict {
		return apierr.New(apierr.Conflict, "another runner wrote this line")
	}
	return c.Store.Append(ctx, run, seq, line)
}

// TestConflictIsALostLease: whoever wrote our line holds the lease, if we don't.
func TestConflictIsALostLease(t *testing.T) {
	for name, isLost := range map[string]bool{"the lease is lost": true, "the lease is ours": false} {
		memory := journal.NewMemory()
		store := &conflicting{Store: memory}
		record, err := journal.Create(ctx, store, locked(t, memory), now, journal.Header{Run: "run-1", Runbook: "mend"})
		if err != nil {
			t.Fatal(err)
		}
		store.conflict = true
		if isLost {
			memory.Expire("lamp/1")
			locked(t, memory)
		}
		err = record.Append(ctx, journal.Warned, "", journal.Message{})
		var unwritten *journal.WriteError
		if isA[*journal.LostError](err) != isLost || !errors.As(err, &unwritten) ||
			!strings.Contains(err.Error(), "another runner") {
			t.Errorf("%s: %v", name, err)
		}
		if unwritten != nil && (unwritten.Seq != 2 || unwritten.Run != "run-1") {
			t.Errorf("%s: %+v", name, unwritten)
		}
	}
}

// TestRecordIsNotCreatedWithoutItsKey: nor over another one.
func TestRecordIsNotCreatedWithoutItsKey(t *testing.T) {
	s := newScene(t)
	_, err := journal.Create(ctx, s.store, s.lease, now, journal.Header{Run: "run-1", Runbook: "mend"})
	if err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("over another one: %v", err)
	}
	if read, err := s.store.Read(ctx, "run-1"); err != nil || len(read) != len(s.record.Entries) {
		t.Errorf("it now has %d lines, %v", len(read), err)
	}
}

// TestTimeThatCannotBeWritten: nothing of the entry is, and the record is as good as
// before.
func TestTimeThatCannotBeWritten(t *testing.T) {
	store := journal.NewMemory()
	late := false
	clock := func() time.Time {
		if late {
			return now().AddDate(9000, 0, 0) // beyond what RFC 3339 can say
		}
		return now()
	}
	record, err := journal.Create(ctx, store, journal.NoLease(1), clock, journal.Header{Run: "run-1", Runbook: "mend"})
	if err != nil {
		t.Fatal(err)
	}
	late = true
	if err := record.Append(ctx, journal.Warned, "", journal.Message{}); err == nil ||
		!strings.Contains(err.Error(), "encoding journal entry") {
		t.Errorf("got %v", err)
	}
	late = false
	if err := record.Append(ctx, journal.Warned, "", journal.Message{}); err != nil || len(record.Entries) != 2 {
		t.Errorf("writing on: %v, %d entries", err, len(record.Entries))
	}
	file := journal.NewFile(t.TempDir())
	holder := journal.Holder{Since: now().AddDate(9000, 0, 0)}
	if _, err := file.Lock(ctx, journal.Claim{Target: "lamp/1", Holder: holder}); err == nil {
		t.Error("a lease was taken that can't be written")
	}
	locked(t, file)
}

// TestLeaseThatNamesAnotherRunVouchesForNone: whose head it has, sealed and all.
func TestLeaseThatNamesAnotherRunVouchesForNone(t *testing.T) {
	s := newScene(t)
	if err := s.lease.Release(ctx); err != nil {
		t.Fatal(err)
	}
	other := locked(t, s.store)
	record := mustLoad(t, s.store)
	header := journal.Header{Run: "run-2", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}}
	if _, err := journal.Create(ctx, s.store, other, now, header); err != nil {
		t.Fatal(err)
	}
	var headless *journal.HeadError
	if err := record.Reopen(other, now); !errors.As(err, &headless) || headless.Reason != `it names run "run-2"` {
		t.Errorf("got %v", err)
	}
}

// TestErrorsOfARecordSayWhatToDo: with a command that can be pasted.
func TestErrorsOfARecordSayWhatToDo(t *testing.T) {
	open := journal.OpenRun{Target: "lamp/1", Run: "run-1", Runbook: "mend", Location: "here", Epoch: 7, Seq: 3}
	for want, err := range map[string]error{
		`broken record: run "run-1", line 3: forged. hint: keep a copy of the record, find out who wrote to it, then ` +
			`salve runs abandon run-1 --reason TEXT`: &journal.BrokenError{Run: "run-1", Line: 3, Reason: "forged"},
		`broken record: run "run-1", line 1: not a journal line. hint: salve runs abandon run-1 --target ID --reason TEXT, ` +
			`then salve runs prune --broken`: &journal.BrokenError{Run: "run-1", Line: 1, Reason: "not a journal line", Junk: true},
		`broken record: run "run-1", line 3: cut. hint: keep the file, and ask for another from the journal: ` +
			`salve replay --record RUN FILE`: &journal.BrokenError{Run: "run-1", Line: 3, Reason: "cut", InFile: true},
		`head missing: the lease on lamp/1 does not vouch for run "run-1": it names no run. hint: keep a copy of the record, ` +
			`look at it with salve runs show run-1, then salve runs abandon run-1 --reason TEXT`: &journal.HeadError{
			Run: "run-1", Target: "lamp/1", Reason: "it names no run"},
		`unsealed record: run "run-1" is of format 5, which this version does not know. hint: use the version of salve that wrote it`: &journal.UnsealedError{
			Run: "run-1", Format: 5, Key: "a", Want: "b",
		},
		`unsealed record: run "run-1" is sealed with key "a", the key here is "b". hint: set SALVE_JOURNAL_KEY_FILE to the key file ` +
			`it was written with`: &journal.UnsealedError{Run: "run-1", Format: 2, Key: "a", Want: "b"},
		`unsealed record: run "run-1" is of format 1, without a seal: who wrote it can't be told. hint: keep a copy of it and ` +
			`find out who wrote it, then salve runs prune --broken deletes it`: &journal.UnsealedError{Run: "run-1"},
		`unsealed record: run "run-1" is of format 1, without a seal: who wrote it can't be told. hint: keep the file, and ` +
			`ask for another from the journal: salve replay --record RUN FILE`: &journal.UnsealedError{Run: "run-1", InFile: true},
		`conflict: run "run-1" of runbook "mend" is open on lamp/1 and recorded in here`: &journal.ElsewhereError{Open: open},
		`record lost: run "run-1" of runbook "mend" was at work on lamp/1; its lease knows 3 entries, written until epoch 7 in here, and the ` +
			`record is not found. hint: salve runs abandon run-1 --target lamp/1 --reason TEXT`: &journal.LostRecordError{Open: open},
		`run "run-1" not found in the journal at here`: &journal.MissingError{Run: "run-1", Where: "here"},
		`writing entry 3 of run "run-1": no space`: &journal.WriteError{Run: "run-1", Seq: 3,
			Err: errors.New("no space")},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
