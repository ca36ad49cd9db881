package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/journal"
	"salve/runbook"
)

// replayed writes entries after the first one, under epoch 7, and reads them back as
// another process does.
func replayed(t *testing.T, entries ...journal.Pending) *journal.Record {
	t.Helper()
	store := journal.NewMemory()
	header := journal.Header{Run: "run-1", Runbook: "mend", Target: runbook.Target{ID: "lamp/1"}, Inputs: []byte(`{"n":1}`)}
	record, err := journal.Create(ctx, store, journal.NoLease(7), now, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.AppendAll(ctx, entries...); err != nil {
		t.Fatal(err)
	}
	read, err := journal.Load(ctx, store, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func intent(attempt int, irreversible bool) journal.Pending {
	data := journal.Intent{Attempt: attempt, Permit: fmt.Sprint("p", attempt), Irreversible: irreversible}
	return journal.Pending{Kind: journal.Intended, Step: "a", Data: data}
}

func outcome(result journal.ResultKind, refused bool) journal.Pending {
	return journal.Pending{Kind: journal.Outcome, Step: "a", Data: journal.Result{Result: result, Refused: refused}}
}

// TestWhatBecameOfAStep: as far as its entries tell.
func TestWhatBecameOfAStep(t *testing.T) {
	type is struct{ finished, skipped, unsettled, crossed, changed bool }
	for name, row := range map[string]struct {
		entries []journal.Pending
		want    is
	}{
		"nothing yet": {},
		"announced":   {[]journal.Pending{intent(1, false)}, is{unsettled: true, changed: true}},
		"done":        {[]journal.Pending{intent(1, false), outcome(journal.Done, false)}, is{finished: true, changed: true}},
		"failed":      {[]journal.Pending{intent(1, false), outcome(journal.Failure, false)}, is{changed: true}},
		"unknown": {[]journal.Pending{intent(1, false), outcome(journal.Unknown, false)},
			is{unsettled: true, changed: true}},
		"skipped": {[]journal.Pending{outcome(journal.Skipped, false)}, is{skipped: true}},
		"announced again": {[]journal.Pending{intent(1, false), outcome(journal.Done, false), intent(2, false)},
			is{unsettled: true, changed: true}},
		"skipped, then on": {[]journal.Pending{outcome(journal.Skipped, false), intent(1, false)},
			is{unsettled: true, changed: true}},
		"past return": {[]journal.Pending{intent(1, true)}, is{unsettled: true, changed: true, crossed: true}},
		"past return, refused": {
			[]journal.Pending{intent(1, true), outcome(journal.Failure, true)}, is{changed: true},
		},
		"past return, failed": {
			[]journal.Pending{intent(1, true), outcome(journal.Failure, false)}, is{changed: true, crossed: true},
		},
		"past return before, refused now": {
			[]journal.Pending{intent(1, true), outcome(journal.Failure, false), intent(2, true), outcome(journal.Failure, true)},
			is{changed: true, crossed: true},
		},
		"past return, then a step that isn't": {
			[]journal.Pending{intent(1, true), outcome(journal.Done, false), intent(2, false)},
			is{unsettled: true, changed: true, crossed: true},
		},
	} {
		record := replayed(t, row.entries...)
		a := record.Step("a")
		got := is{a.Finished(), a.Skipped(), a.Unsettled(), a.Crossed(), record.Changed()}
		if got != row.want || record.PastReturn() != row.want.crossed || a.Name != "a" {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

// TestStepsAreInTheOrderInWhichTheyBegan, each once.
func TestStepsAreInTheOrderInWhichTheyBegan(t *testing.T) {
	record := replayed(t,
		journal.Pending{Kind: journal.Intended, Step: "z", Data: journal.Intent{Attempt: 1}},
		journal.Pending{Kind: journal.Intended, Step: "b", Data: journal.Intent{Attempt: 1}},
		journal.Pending{Kind: journal.Outcome, Step: "z", Data: journal.Result{Result: journal.Done}},
		journal.Pending{Kind: journal.Intended, Step: "b", Data: journal.Intent{Attempt: 2, Permit: "second"}})
	var names []string
	for _, step := range record.Steps() {
		names = append(names, step.Name)
	}
	if b := record.Step("b"); !slices.Equal(names, []string{"z", "b"}) || b.Attempts != 2 || b.Permit != "second" ||
		!b.Intended.Equal(now()) {
		t.Errorf("steps %v, %+v", names, b)
	}
}

// TestResumeTokensAreTheirStepsOwn: and forgotten with the attempt that they belong
// to, but for one of unknown outcome.
func TestResumeTokensAreTheirStepsOwn(t *testing.T) {
	token := func(step, value string) journal.Pending {
		raw, _ := json.Marshal(value)
		return journal.Pending{Kind: journal.Noted, Step: step, Data: journal.Note{Name: runbook.OperationNote, Value: raw}}
	}
	for name, row := range map[string]struct {
		entries []journal.Pending
		want    string
	}{
		"kept while the step is at work": {[]journal.Pending{intent(1, false), token("a", "poll/a"),
			token("b", "poll/b")}, "poll/a"},
		"the newest one counts": {[]journal.Pending{intent(1, false), token("a", "poll/1"), token("a", "poll/2")}, "poll/2"},
		"kept when the outcome is unknown": {[]journal.Pending{intent(1, false), token("a", "poll/a"),
			outcome(journal.Unknown, false)}, "poll/a"},
		"forgotten when it is done": {[]journal.Pending{intent(1, false), token("a", "poll/a"),
			outcome(journal.Done, false)}, ""},
		"forgotten by the next announcement": {[]journal.Pending{intent(1, false), token("a", "poll/a"), intent(2, false)},
			""},
	} {
		record := replayed(t, row.entries...)
		var got string
		found, err := record.RecallOf("a", runbook.OperationNote, &got)
		if err != nil || found != (row.want != "") || got != row.want {
			t.Errorf("%s: %q, %v, %v", name, got, found, err)
		}
	}
}

// TestVerdictsAreTheNewest: and a resumed run is not parked any more.
func TestVerdictsAreTheNewest(t *testing.T) {
	say := func(kind journal.Kind, reason string) journal.Pending {
		return journal.Pending{Kind: kind, Data: journal.Verdict{Outcome: runbook.NeedsAttention, Reason: reason}}
	}
	record := replayed(t, say(journal.Parked, "first"), say(journal.Parked, "second"), say(journal.RollingBack, "back"))
	if record.Parked == nil || record.Parked.Reason != "second" || record.RollingBack == nil ||
		record.RollingBack.Reason != "back" {
		t.Errorf("parked %+v, rolling back %+v", record.Parked, record.RollingBack)
	}
	resumed := journal.Resumption{Inputs: []byte(`{"n":2}`), Overrides: map[string]string{"guard": "because"}}
	record = replayed(t, say(journal.Parked, "first"), journal.Pending{Kind: journal.Resumed, Data: resumed},
		say(journal.Closed, "end"))
	if record.Parked != nil || record.Closed == nil || record.Closed.Reason != "end" {
		t.Errorf("parked %+v, closed %+v", record.Parked, record.Closed)
	}
	if string(record.Header.Inputs) != `{"n":2}` || record.Header.Overrides["guard"] != "because" {
		t.Errorf("inputs %s, overrides %v", record.Header.Inputs, record.Header.Overrides)
	}
	record = replayed(t, journal.Pending{Kind: journal.Resumed, Data: journal.Resumption{}},
		journal.Pending{Kind: journal.Planned, Data: runbook.Plan{Digest: "d1"}})
	if string(record.Header.Inputs) != `{"n":1}` || record.Plan == nil || record.Plan.Digest != "d1" {
		t.Errorf("inputs %s, plan %+v", record.Header.Inputs, record.Plan)
	}
}

// TestEntriesThatMeanNothingBreakTheRecord: also where they are sealed. A later
// version, or a mistake of this one, wrote what can't be understood here.
func TestEntriesThatMeanNothingBreakTheRecord(t *testing.T) {
	for name, entry := range map[string]journal.Pending{
		"an unknown kind":    {Kind: "novel"},
		"a second beginning": {Kind: journal.Opened, Data: journal.Header{Run: "run-1"}},
		"no plan":            {Kind: journal.Planned, Data: "text"},
		"no intent":          {Kind: journal.Intended, Step: "a", Data: "text"},
		"no outcome":         {Kind: journal.Outcome, Step: "a", Data: "text"},
		"no note":            {Kind: journal.Noted, Data: "text"},
		"no export":          {Kind: journal.Exported, Data: "text"},
		"no resumption":      {Kind: journal.Resumed, Data: "text"},
		"nothing to undo":    {Kind: journal.RollingBack, Data: "text"},
		"no question":        {Kind: journal.Parked, Data: "text"},
		"no verdict":         {Kind: journal.Closed, Data: "text"},
		"no destination":     {Kind: journal.Migrated, Data: "text"},
	} {
		t.Run(name, func(t *testing.T) {
			store := journal.NewMemory()
			record, err := journal.Create(ctx, store, journal.NoLease(1), now, journal.Header{Run: "run-1", Runbook: "mend"})
			if err != nil {
				t.Fatal(err)
			}
			var unwritten *journal.WriteError
			if err := record.AppendAll(ctx, entry); !errors.As(err, &unwritten) || unwritten.Seq != 2 {
				t.Errorf("writing it: %v", err)
			}
			if err := record.Append(ctx, journal.Warned, "", journal.Message{}); !errors.As(err, &unwritten) {
				t.Errorf("writing on: %v", err)
			}
			var broken *journal.BrokenError
			_, err = journal.Load(ctx, store, "run-1")
			if !errors.As(err, &broken) || !strings.Contains(broken.Reason, "entry 2") {
				t.Errorf("reading it: %v", err)
			}
		})
	}
}

// TestRecallSaysWhatCannotBeHad: a note of another type is an error, one that is not
// there is none.
func TestRecallSaysWhatCannotBeHad(t *testing.T) {
	record := replayed(t, journal.Pending{Kind: journal.Noted, Data: journal.Note{Name: "size", Value: []byte(`"large"`)}})
	var size int
	if found, err := record.Recall("size", &size); found || err == nil || !strings.Contains(err.Error(), `"size"`) {
		t.Errorf("a text as a number: %v, %v", found, err)
	}
	if found, err := record.ReadBack(ctx, "size", &size); found || err == nil || !strings.Contains(err.Error(), `"size"`) {
		t.Errorf("a text as a number, read back: %v, %v", found, err)
	}
	if found, err := record.Recall("other", &size); found || err != nil {
		t.Errorf("what was never noted: %v, %v", found, err)
	}
	if found, err := record.ReadBack(ctx, "other", &size); found || err != nil {
		t.Errorf("what was never noted, read back: %v, %v", found, err)
	}
}

// TestEpochIsTheHighestThatWrote: whatever wrote last.
func TestEpochIsTheHighestThatWrote(t *testing.T) {
	store := journal.NewMemory()
	record, err := journal.Create(ctx, store, journal.NoLease(7), now, journal.Header{Run: "run-1", Runbook: "mend"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(record.Reopen(journal.NoLease(9), now),
		record.Append(ctx, journal.Resumed, "", journal.Resumption{})); err != nil {
		t.Fatal(err)
	}
	if read, err := journal.Load(ctx, store, "run-1"); err != nil || read.Epoch != 9 || read.Entries[0].Epoch != 7 ||
		read.Entries[1].Epoch != 9 {
		t.Errorf("%+v, %v", read, err)
	}
}
