package engine_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// half is a run that stays open: its first step is done, its second fails.
func half(t *testing.T, b *bench, s *site) runbook.Runbook {
	t.Helper()
	s.fails["roof"] = []error{apierr.New(apierr.Terminal, "rain")}
	book := s.book(1, s.step("floor"), s.step("roof", "floor"))
	book.Inputs = "plan A"
	expect(t, b.run(book), runbook.Failed, "rain")
	return book
}

func TestOpenRunWithOtherInputsIsKeptUnlessItMayBeSuperseded(t *testing.T) {
	refused := errors.New("its cellar is flooded")
	for name, row := range map[string]struct {
		supersede func(*journal.History) error
		want      string // the error's text; empty when the run goes on
	}{
		"nobody allows it": {want: `target site 1 has an open run run-1 started with different inputs ("plan A"). ` +
			`hint: salve resume run-1`},
		"it is refused": {supersede: func(*journal.History) error { return refused }, want: "its cellar is flooded"},
		"it is closed and let go": {supersede: func(open *journal.History) error {
			if open.Header.Run != "run-1" || !open.Step("floor").Finished() {
				return errors.New("asked about another run")
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				book := half(t, b, s)
				before := b.story()
				book.Inputs = "plan B"
				result, err := b.Run(t.Context(), book, engine.Options{Supersede: row.supersede})
				if row.want != "" {
					if err == nil || err.Error() != row.want {
						t.Errorf("got %v, want %s", err, row.want)
					}
					b.expectStory(before...)
					return
				}
				b.expectStory(append(before, "closed failed")...)
				closed := b.record("run-1").Closed
				if err != nil || result.Run != "run-2" || closed == nil || closed.Reason != "superseded by run run-2" {
					t.Errorf("got %+v, %v, the run before: %+v", result, err, closed)
				}
				expect(t, result, runbook.RolledOut, "all 2 steps are done")
			})
		})
	}
}

// TestSupersedingThatCannotBeWrittenBeginsNothing: two runs would be open.
func TestSupersedingThatCannotBeWrittenBeginsNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := half(t, b, s)
		book.Inputs = "plan B"
		s.order = nil
		b.failOn(journal.Closed, "")
		_, err := b.Run(t.Context(), book, engine.Options{Supersede: func(*journal.History) error { return nil }})
		if !errors.Is(err, errFull) || len(s.order) > 0 {
			t.Errorf("got %v, built %v", err, s.order)
		}
		if runs, err := b.Journal.Runs(t.Context()); err != nil || len(runs) != 1 {
			t.Errorf("runs %v, %v", runs, err)
		}
	})
}

// TestRunThatItsLeaseDoesNotVouchForIsNotSuperseded: it may have been cut.
func TestRunThatItsLeaseDoesNotVouchForIsNotSuperseded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := half(t, b, s)
		before := b.story()
		book.Inputs = "plan B"
		b.Engine.Journal = &forgetting{b.Journal, 2}
		_, err := b.Run(t.Context(), book, engine.Options{Supersede: func(*journal.History) error { return nil }})
		var headless *journal.HeadError
		if !errors.As(err, &headless) {
			t.Errorf("got %v", err)
		}
		b.expectStory(before...)
	})
}

// TestSameRunDecidesWhatIsResumed in place of the inputs, for runs of its runbook.
func TestSameRunDecidesWhatIsResumed(t *testing.T) {
	another := errors.New("another revision")
	for name, row := range map[string]struct {
		same   func(journal.Header) error
		inputs string
		run    string // the run that the work is done in
	}{
		"the same by its word": {inputs: "plan B", run: "run-1",
			same: func(journal.Header) error { return nil }},
		"another by its word": {inputs: "plan A", run: "run-2",
			same: func(journal.Header) error { return another }},
		"without it, the same inputs are the same": {inputs: "plan A", run: "run-1"},
		"without it, others are another":           {inputs: "plan B", run: "run-2"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				book := half(t, b, s)
				book.Inputs = row.inputs
				options := engine.Options{SameRun: row.same, Supersede: func(*journal.History) error { return nil }}
				if row.run == "run-2" {
					_, err := b.Resume(t.Context(), book, "run-1", options)
					if err == nil || row.same != nil && !errors.Is(err, another) {
						t.Errorf("resumed as another: %v", err)
					}
				}
				result, err := b.Run(t.Context(), book, options)
				if err != nil || result.Run != row.run || result.Outcome != runbook.RolledOut {
					t.Errorf("got %+v, %v", result, err)
				}
				if inputs := string(b.record(row.run).Header.Inputs); inputs != fmt.Sprintf("%q", row.inputs) {
					t.Errorf("the record's inputs are %s", inputs)
				}
			})
		})
	}
}

// TestRunOfAnotherRunbookIsNeverSuperseded, nor taken for the same.
func TestRunOfAnotherRunbookIsNeverSuperseded(t *testing.T) {
	b := newBench(t)
	b.run(b.stuck())
	before := b.story()
	other := b.book()
	other.Name = "lamp-on"
	_, err := b.Run(t.Context(), other, engine.Options{
		SameRun: func(journal.Header) error { return nil }, Supersede: func(*journal.History) error { return nil },
	})
	var invalid *engine.InvalidError
	want := `run "run-1" of runbook "lamp-off" is open on this target: resume or abandon it first`
	if !errors.As(err, &invalid) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	b.expectStory(before...)
}

func TestResumeRefusesWhatItIsNotFor(t *testing.T) {
	for name, row := range map[string]struct {
		run    string
		change func(*runbook.Runbook)
		want   string
	}{
		"a run that there is not": {run: "run-9", want: "not found"},
		"other inputs": {change: func(r *runbook.Runbook) { r.Inputs = "plan B" },
			want: `run run-1 was started with different inputs ("plan A")`},
		"inputs that JSON can't hold": {change: func(r *runbook.Runbook) { r.Inputs = make(chan int) },
			want: "encoding the inputs of build"},
		"another target": {change: func(r *runbook.Runbook) { r.Target.ID = "site/2" },
			want: "run run-1 is of runbook build on site/1"},
		"another runbook": {change: func(r *runbook.Runbook) { r.Name = "demolish" },
			want: "run run-1 is of runbook build on site/1"},
		"another version": {change: func(r *runbook.Runbook) { r.Version = "2" },
			want: `run run-1 was started with version "1" of build, this is version "2"`},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				other, run := half(t, b, s), "run-1"
				before, built := b.story(), len(s.order)
				if row.change != nil {
					row.change(&other)
				}
				if row.run != "" {
					run = row.run
				}
				_, err := b.Resume(t.Context(), other, run, engine.Options{})
				if err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("got %v, want %q", err, row.want)
				}
				b.expectStory(before...)
				if len(s.order) != built {
					t.Errorf("built %v", s.order[built:])
				}
				if holder, err := b.Journal.Lock(t.Context(), journal.Claim{Target: other.Target.ID}); err != nil {
					t.Errorf("its target is still held: %v, %v", holder, err)
				}
			})
		})
	}
}

func TestClosedRunIsNotResumed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := half(t, b, s)
		result, err := b.Resume(t.Context(), book, "run-1", engine.Options{})
		if err != nil || result.Outcome != runbook.RolledOut || result.Run != "run-1" || s.done["floor"] != 1 {
			t.Errorf("resumed: %+v, %v, built %v", result, err, s.done)
		}
		_, err = b.Resume(t.Context(), book, "run-1", engine.Options{})
		if want := "run run-1 is closed: rolled-out (all 2 steps are done)"; err == nil || err.Error() != want {
			t.Errorf("resumed once more: %v, want %s", err, want)
		}
	})
}

// TestTargetThatIsHeldIsNotTouched by any of the calls that act, and named with its holder.
func TestTargetThatIsHeldIsNotTouched(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := half(t, b, s)
		before := b.story()
		theirs := journal.Holder{Run: "run-0", User: "ada", Host: "north"}
		if _, err := b.Journal.Lock(t.Context(), journal.Claim{Target: "site/1", Holder: theirs}); err != nil {
			t.Fatal(err)
		}
		_, run := b.Run(t.Context(), book, engine.Options{})
		_, resume := b.Resume(t.Context(), book, "run-1", engine.Options{})
		for call, err := range map[string]error{"Run": run, "Resume": resume} {
			var held *journal.HeldError
			if !errors.As(err, &held) || held.Holder.User != "ada" || apierr.ClassOf(err) != apierr.Conflict {
				t.Errorf("%s gave %v", call, err)
			}
		}
		b.expectStory(before...)
	})
}

func TestResumeThatCannotBeWrittenDoesNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := half(t, b, s)
		s.order = nil
		b.failOn(journal.Resumed, "")
		if result, err := b.Run(t.Context(), book, engine.Options{}); !errors.Is(err, errFull) || len(s.order) > 0 {
			t.Errorf("ended %+v, %v, built %v", result, err, s.order)
		}
	})
}

// forgetting is a store whose leases begin to count anew, as those do that were deleted,
// and which hands out but a few.
type forgetting struct {
	journal.Store
	left int
}

func (f *forgetting) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	if f.left--; f.left < 0 {
		return nil, &journal.HeldError{Target: claim.Target}
	}
	lease, err := journal.NewMemory().Lock(ctx, claim)
	return lease, err
}

// TestEpochIsAboveEveryRecords, also when the lease's own memory was lost: a permit of an
// earlier run is never good for a later one.
func TestEpochIsAboveEveryRecords(t *testing.T) {
	for name, resumed := range map[string]bool{"of a new run": false, "of one that is resumed": true} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				s.fails["roof"] = []error{errStuck}
				book := s.book(1, s.step("roof"))
				book.KeepOpen = resumed
				b.run(book)
				was := b.record("run-1").Epoch
				store := b.Engine.Journal
				call := func() (engine.Result, error) {
					if resumed {
						return b.Resume(t.Context(), book, "run-1", engine.Options{})
					}
					return b.Run(t.Context(), book, engine.Options{})
				}
				b.Engine.Journal = &forgetting{store, 1}
				var held *journal.HeldError
				if _, err := call(); !errors.As(err, &held) {
					t.Errorf("taken by another meanwhile: %v", err)
				}
				b.Engine.Journal = &forgetting{store, 2}
				result, err := call()
				if resumed { // nothing vouches for its record any more
					var headless *journal.HeadError
					if !errors.As(err, &headless) {
						t.Errorf("%+v, %v", result, err)
					}
					return
				}
				if err != nil || b.record(result.Run).Epoch <= was {
					t.Errorf("%+v, %v, epoch %d after %d", result, err, b.record(result.Run).Epoch, was)
				}
			})
		})
	}
}

// TestARunThatWasMovedKeepsItsTarget: it may be at work where it is now.
func TestARunThatWasMovedKeepsItsTarget(t *testing.T) {
	b := newBench(t)
	header := journal.Header{Schema: 1, Run: "run-0", Runbook: b.book().Name, Version: b.book().Version,
		Target: b.book().Target}
	record, err := journal.Create(t.Context(), b.Journal, journal.NoLease(3), time.Now, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := record.Append(t.Context(), journal.Migrated, "",
		journal.Destination{Where: "a laptop", ID: "laptop"}); err != nil {
		t.Fatal(err)
	}
	var away *journal.ElsewhereError
	if _, err := b.Run(t.Context(), b.book(), engine.Options{}); !errors.As(err, &away) ||
		away.Open.Location != "a laptop" {
		t.Errorf("a new run: %v", err)
	}
	if _, err := b.Resume(t.Context(), b.book(), "run-0", engine.Options{}); !errors.As(err, &away) {
		t.Errorf("resuming it: %v", err)
	}
	if len(b.calls) > 0 {
		t.Errorf("changes %v", b.calls)
	}
}

// TestRunsAreNamedByTimeAndChance: two that begin in one second have two names.
func TestRunsAreNamedByTimeAndChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.NewRun = nil
		first, second := b.run(b.book()).Run, b.run(b.book()).Run
		if first == second || !regexp.MustCompile(`^20000101-000000-[0-9a-f]{6}$`).MatchString(first) {
			t.Errorf("named %s and %s", first, second)
		}
	})
}

func TestRunThatCannotBeOpenedDoesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(b *bench, book *runbook.Runbook)
		want  string
	}{
		"a name that is taken": {want: "exists already", spoil: func(b *bench, _ *runbook.Runbook) {
			b.NewRun = func(time.Time) string { return "run-0" }
			if err := b.Journal.Create(t.Context(), "run-0"); err != nil {
				t.Error(err)
			}
		}},
		"a full disk": {want: errFull.Error(), spoil: func(b *bench, _ *runbook.Runbook) { b.failOn(journal.Opened, "") }},
		"inputs that JSON can't hold": {want: "encoding the inputs of lamp-off",
			spoil: func(_ *bench, book *runbook.Runbook) { book.Inputs = make(chan int) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			book := b.book()
			row.spoil(b, &book)
			result, err := b.Run(t.Context(), book, engine.Options{})
			if err == nil || !strings.Contains(err.Error(), row.want) || len(b.calls)+len(b.asked) > 0 {
				t.Errorf("%+v, %v, asked %v, changes %v", result, err, b.asked, b.calls)
			}
			if _, err := b.Journal.Lock(t.Context(), journal.Claim{Target: "lamp/1"}); err != nil {
				t.Errorf("its target is still held: %v", err)
			}
		})
	}
}

func TestRecordBeginsWithWhoRunsWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Holder = journal.Holder{User: "ada", Host: "north", PID: 7}
		book := b.book()
		book.Inputs, book.Posture = map[string]int{"watts": 40}, runbook.FailClosed
		b.run(book)
		header := b.record("run-1").Header
		if header.Holder.User != "ada" || header.Holder.Run != "run-1" || !header.Holder.Since.Equal(time.Now()) ||
			header.Runbook != "lamp-off" || header.Version != "1" || header.Target != book.Target ||
			string(header.Inputs) != `{"watts":40}` || header.Posture != runbook.FailClosed || header.Schema != 1 {
			t.Errorf("the record begins with %+v", header)
		}
	})
}
