package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// attic is a journal that keeps no exports for a time.
type attic struct {
	journal.Store
	faults []error
}

func (a *attic) PutExport(ctx context.Context, run, name string, data []byte) error {
	if len(a.faults) > 0 {
		err := a.faults[0]
		a.faults = a.faults[1:]
		return err
	}
	return a.Store.PutExport(ctx, run, name, data)
}

// TestWhatCannotBeKeptFailsItsStepAlone: the record can still be written, so that the
// run ends like any other that failed, with the change not made and the cause told.
func TestWhatCannotBeKeptFailsItsStepAlone(t *testing.T) {
	busy := apierr.New(apierr.Transient, "503")
	for name, row := range map[string]struct {
		faults []error
		keep   func(context.Context, runbook.Run) error
		ends   runbook.Outcome
		reason string
	}{
		"an export on a full disk": {faults: []error{errFull}, ends: runbook.Failed,
			reason: `step hang-sign: keeping export "deeds" of run "run-1": no space left on device`,
			keep: func(ctx context.Context, run runbook.Run) error {
				return run.Export(ctx, "deeds", []byte("whose house it is"))
			}},
		"an export while its backend stumbles is tried again": {faults: []error{busy, busy}, ends: runbook.Remediated,
			keep: func(ctx context.Context, run runbook.Run) error {
				return run.Export(ctx, "deeds", []byte("whose house it is"))
			}},
		"an export without a name": {ends: runbook.Failed, reason: `invalid export ""`,
			keep: func(ctx context.Context, run runbook.Run) error { return run.Export(ctx, "", nil) }},
		"a note whose secret can't be kept": {faults: []error{errFull}, ends: runbook.Failed,
			reason: "no space left on device",
			keep: func(ctx context.Context, run runbook.Run) error {
				return run.Note(ctx, "key", map[string]string{"password": "hunter2"})
			}},
		"a note that is too long": {ends: runbook.Failed, reason: "above the limit",
			keep: func(ctx context.Context, run runbook.Run) error {
				return run.Note(ctx, "novel", strings.Repeat("x", journal.MaxLine))
			}},
		"a note that is no JSON": {ends: runbook.Failed, reason: `noting "line": encoding as JSON`,
			keep: func(ctx context.Context, run runbook.Run) error { return run.Note(ctx, "line", make(chan int)) }},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, _ *site) {
				b.Engine.Journal = &attic{b.Journal, row.faults}
				book := b.book()
				apply := book.Steps[0].Apply
				book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
					if err := row.keep(ctx, run); err != nil {
						return err
					}
					return apply(ctx, run)
				}
				result := b.run(book)
				expect(t, result, row.ends, row.reason)
				if acted := row.ends == runbook.Remediated; result.Unrecorded || result.Open || b.sign != acted {
					t.Errorf("sign out: %v, changes %v, %+v", b.sign, b.calls, result)
				}
			})
		})
	}
}

// TestExportThatFailsIsNoChangeThatMayHaveHappened: its step is not asked about.
func TestExportThatFailsIsNoChangeThatMayHaveHappened(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, _ *site) {
		b.Engine.Journal = &attic{b.Journal, []error{errFull}}
		book := b.book()
		book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error { return run.Export(ctx, "deeds", nil) }
		began := time.Now()
		b.run(book)
		b.expectStory("opened", "evaluated start", "planned", "evaluated step hang-sign", "intent hang-sign",
			"outcome hang-sign failed, never happened", "rolling-back failed", "outcome take-sign-in done observed",
			"closed failed")
		if took := time.Since(began); took != 0 {
			t.Errorf("took %s", took)
		}
	})
}

// TestExportOfALostTargetEndsTheRun: it is no failure of the step.
func TestExportOfALostTargetEndsTheRun(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
		return errors.Join(b.usurp(ctx, book.Target.ID), run.Export(ctx, "deeds", nil))
	}
	expect(t, b.run(book), runbook.NeedsAttention, "lease lost")
}

// TestNoteThatCannotBeWrittenTakesNoOtherAlong, although they are written together.
func TestNoteThatCannotBeWrittenTakesNoOtherAlong(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		b.Engine.Journal = &slowDisk{Store: b.Journal}
		began := time.Now()
		var steps []runbook.Step
		for _, name := range []string{"first", "diary", "list", "novel"} {
			step := s.step(name)
			step.Apply = func(ctx context.Context, run runbook.Run) error {
				text := name
				if name == "novel" {
					text = strings.Repeat("x", journal.MaxLine)
				}
				at := began.Add(time.Second)
				if name != "first" {
					at = at.Add(time.Millisecond) // while the first is written, which takes ten
				}
				if err := clock.Sleep(ctx, clock.Real{}, time.Until(at)); err != nil {
					return err
				}
				return run.Note(ctx, name, text)
			}
			steps = append(steps, step)
		}
		result := b.run(s.book(4, steps...))
		expect(t, result, runbook.Failed, "above the limit")
		expect(t, result, runbook.Failed, "3 of 4 steps are done; not done: novel")
		for _, name := range []string{"first", "diary", "list"} {
			var kept string
			if found, err := b.record("run-1").Recall(name, &kept); !found || err != nil || kept != name {
				t.Errorf("%s is %q, %v, %v", name, kept, found, err)
			}
		}
	})
}

func TestExportsAreKeptBesideTheRecord(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		keep := s.step("keep")
		apply := keep.Apply
		keep.Apply = func(ctx context.Context, run runbook.Run) error {
			if err := run.Export(ctx, "deeds", []byte("whose house it is")); err != nil {
				return err
			}
			run.Summarize("%d deeds", 1)
			return apply(ctx, run)
		}
		use := s.step("use", "keep")
		use.Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
			deeds, err := run.ReadExport(ctx, "deeds")
			if err != nil || string(deeds) != "whose house it is" {
				return runbook.NotObserved(apierr.New(apierr.Terminal, "deeds %q: %w", deeds, err))
			}
			return runbook.Done("they are there")
		}
		expect(t, b.run(s.book(1, keep, use)), runbook.RolledOut, "")
		record := b.record("run-1")
		for _, entry := range record.Entries {
			if strings.Contains(string(entry.Data), "whose house") {
				t.Errorf("in the record: %s", entry.Data)
			}
		}
		if last := record.Step("keep").Last; last.Reason != "1 deeds" {
			t.Errorf("the outcome's reason is %q", last.Reason)
		}
	})
}

// TestNotesAreReadBackFromWhereTheyAreKept: one that is not there is no error, one that
// was changed there is.
func TestNotesAreReadBackFromWhereTheyAreKept(t *testing.T) {
	b := newBench(t)
	book := b.book()
	apply := book.Steps[0].Apply
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
		var kept, none int
		if found, err := run.ReadBack(ctx, "nail", &kept); found || err != nil {
			t.Errorf("before it was noted: %v, %v", found, err)
		}
		if err := run.Note(ctx, "nail", 4); err != nil {
			return err
		}
		if found, err := run.ReadBack(ctx, "nail", &kept); !found || err != nil || kept != 4 {
			t.Errorf("read back: %v, %v, %d", found, err, kept)
		}
		if found, err := run.Recall("hammer", &none); found || err != nil {
			t.Errorf("recalled what was never noted: %v, %v", found, err)
		}
		return apply(ctx, run)
	}
	lost := &forgetful{Store: b.Journal}
	b.Engine.Journal = lost
	book.Steps[1].Apply = func(ctx context.Context, run runbook.Run) error {
		lost.lost = true
		var kept int
		if _, err := run.ReadBack(ctx, "nail", &kept); err == nil {
			t.Error("read back from a journal that lost it")
		}
		if found, err := run.Recall("nail", &kept); !found || err != nil || kept != 4 {
			t.Errorf("recalled: %v, %v, %d", found, err, kept)
		}
		return apierr.New(apierr.Terminal, "no power")
	}
	result, err := b.Run(t.Context(), book, engine.Options{})
	if err != nil || result.Outcome != runbook.Failed {
		t.Errorf("ended %+v, %v", result, err)
	}
}

// forgetful is a journal whose lines can't be read any more.
type forgetful struct {
	journal.Store
	lost bool
}

func (f *forgetful) ReadLine(ctx context.Context, run string, seq int) ([]byte, error) {
	if f.lost {
		return nil, &journal.MissingError{Run: run, Where: "the attic"}
	}
	return f.Store.ReadLine(ctx, run, seq)
}
