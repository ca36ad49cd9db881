package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// story is what a record tells, a line for each entry.
func (b *bench) story() []string {
	b.t.Helper()
	var lines []string
	for _, entry := range b.record("run-1").Entries {
		lines = append(lines, strings.Join(strings.Fields(string(entry.Kind)+" "+entry.Step+" "+b.detail(entry)), " "))
	}
	return lines
}

// detail is what a story tells of an entry besides its kind and step.
func (b *bench) detail(entry journal.Entry) string {
	switch entry.Kind {
	case journal.Evaluated:
		evaluation := decode[journal.Evaluation](b.t, entry.Data)
		return evaluation.For + " " + string(evaluation.Decision.Outcome)
	case journal.Outcome:
		result := decode[journal.Result](b.t, entry.Data)
		said := string(result.Result)
		if result.Observed {
			said += " observed"
		}
		if result.Answered {
			said += " answered"
		}
		if result.Refused {
			said += ", never happened"
		}
		return said
	case journal.Noted:
		return decode[journal.Note](b.t, entry.Data).Name
	case journal.RollingBack, journal.Parked, journal.Closed:
		return string(decode[journal.Verdict](b.t, entry.Data).Outcome)
	default:
		return ""
	}
}

func (b *bench) expectStory(want ...string) {
	b.t.Helper()
	if got := b.story(); !slices.Equal(got, want) {
		b.t.Errorf("the journal tells\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// failing is a journal whose disk is full from the first entry on that holds a text.
type failing struct {
	journal.Store
	on   string
	full bool
}

func (f *failing) Append(ctx context.Context, run string, seq int, line []byte) error {
	if f.full = f.full || strings.Contains(string(line), f.on); f.full {
		return errFull
	}
	return f.Store.Append(ctx, run, seq, line)
}

// failOn fails the journal's writes from the first of a kind on; for a step's entries
// alone unless step is empty.
func (b *bench) failOn(kind journal.Kind, step string) {
	text := `"kind":"` + string(kind) + `"`
	if step != "" {
		text += `,"epoch":1,"step":"` + step + `"`
	}
	b.Engine.Journal = &failing{Store: b.Journal, on: text}
}

func TestJournalTellsWhatARunDid(t *testing.T) {
	b := newBench(t)
	b.run(b.book())
	b.expectStory(
		"opened", "evaluated start", "planned",
		"evaluated step hang-sign", "intent hang-sign", "outcome hang-sign done",
		"evaluated step switch-off", "intent switch-off", "outcome switch-off done",
		"evaluated checks", "closed remediated")
}

func TestJournalTellsWhatWasRolledBack(t *testing.T) {
	b := newBench(t)
	b.faults["switch-off"] = []error{apierr.New(apierr.Terminal, "stuck")}
	b.run(b.book())
	b.expectStory(
		"opened", "evaluated start", "planned",
		"evaluated step hang-sign", "intent hang-sign", "outcome hang-sign done",
		"evaluated step switch-off", "intent switch-off", "outcome switch-off failed, never happened",
		"rolling-back failed", "intent take-sign-in", "outcome take-sign-in done", "closed failed")
}

// TestRunStopsWhereItsRecordStops: whatever can't be written, nothing follows from it,
// neither a change nor so much as a look at the world.
func TestRunStopsWhereItsRecordStops(t *testing.T) {
	for name, row := range map[string]struct {
		kind   journal.Kind
		step   string
		faults map[string][]error
		calls  []string // the changes that were made
		asked  []string // what the world was asked
	}{
		"the findings of the start": {kind: journal.Evaluated, asked: []string{"lamp-in-sight"}},
		"the plan":                  {kind: journal.Planned, asked: []string{"lamp-in-sight"}},
		"an intent": {kind: journal.Intended, step: "hang-sign",
			asked: []string{"lamp-in-sight", "lamp-in-sight", "hang-sign"}},
		"what became of a change": {kind: journal.Outcome, step: "hang-sign", calls: []string{"hang-sign"},
			asked: []string{"lamp-in-sight", "lamp-in-sight", "hang-sign"}},
		"that a change was refused for now": {kind: journal.Outcome, step: "hang-sign", calls: []string{"hang-sign"},
			faults: map[string][]error{"hang-sign": {apierr.New(apierr.Throttled, "429")}},
			asked:  []string{"lamp-in-sight", "lamp-in-sight", "hang-sign"}},
		"that it is rolled back": {kind: journal.RollingBack, calls: []string{"hang-sign", "switch-off"},
			faults: map[string][]error{"switch-off": {apierr.New(apierr.Terminal, "stuck")}},
			asked: []string{"lamp-in-sight", "lamp-in-sight", "hang-sign", "lamp-in-sight",
				"switch-off"}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, _ *site) {
				b.failOn(row.kind, row.step)
				b.faults = row.faults
				result, err := b.Run(t.Context(), b.book(), engine.Options{})
				if announced := len(row.calls) > 0; announced != result.Unrecorded || announced == errors.Is(err, errFull) {
					t.Errorf("ended %+v, %v", result, err)
				}
				if !slices.Equal(b.calls, row.calls) || !slices.Equal(b.asked, row.asked) {
					t.Errorf("changes %v, want %v; asked %v, want %v", b.calls, row.calls, b.asked, row.asked)
				}
			})
		})
	}
}

// TestUnrecordedRunTellsWhatOnlyItKnows: what was done, and what was noted.
func TestUnrecordedRunTellsWhatOnlyItKnows(t *testing.T) {
	b := newBench(t)
	book := b.book()
	apply := book.Steps[0].Apply
	book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
		return errors.Join(run.Note(ctx, "nail", 3), run.Note(ctx, "nail", 4), apply(ctx, run))
	}
	b.failOn(journal.Outcome, "switch-off")
	result := b.run(book)
	expect(t, result, runbook.NeedsAttention, "can't be written any more")
	expect(t, result, runbook.NeedsAttention, "1 of 2 steps are done; not done: switch-off")
	if !result.Unrecorded || !result.Open || string(result.Notes["nail"]) != "4" || result.Question == "" {
		t.Errorf("ended %+v", result)
	}
}

func TestSlipInAFindingFailsTheRunAndNotItsRecord(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.sees = func() runbook.Finding {
		if asked++; asked < 3 {
			return runbook.Yes("there it is")
		}
		return runbook.Yes("there").WithEvidence(runbook.Evidence{Source: "eye", Value: []byte("no JSON")})
	}
	result, err := b.Engine.Run(t.Context(), b.book(), engine.Options{}) // no guard that reads a value has such evidence
	if err != nil {
		t.Fatal(err)
	}
	expect(t, result, runbook.Failed, "invalid character")
	if result.Open || result.Unrecorded || b.sign {
		t.Errorf("sign out: %v, %+v", b.sign, result)
	}
}
