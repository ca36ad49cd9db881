package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// untidy is the lamp's runbook with a ladder in the way, which is put away first.
func (b *bench) untidy(ladder *bool) runbook.Runbook {
	book := b.book()
	away := b.step("put-ladder-away", func() bool { return !*ladder }, func() { *ladder = false })
	away.Guards = nil
	away.Preconditions = []runbook.Guard{{Name: "nobody-on-it",
		Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			b.asked = append(b.asked, "nobody-on-it")
			return runbook.Yes("nobody")
		}}}
	book.Preflight = []runbook.Step{away}
	return book
}

// TestPreflightThatNamesGuards: they are asked before it acts, and not before it looks whether it is needed.
func TestPreflightThatNamesGuards(t *testing.T) {
	for _, inTheWay := range []bool{true, false} {
		b, ladder := newBench(t), inTheWay
		book := b.untidy(&ladder)
		book.Preflight[0].Guards = []string{"lamp-in-sight"}
		expect(t, b.run(book), runbook.Remediated, "")
		var first []string
		for _, evaluation := range b.evaluations("step put-ladder-away") {
			for _, finding := range evaluation.Findings {
				first = append(first, finding.Guard)
			}
			if look := len(evaluation.Findings) == 1; evaluation.Preconditions != look {
				t.Errorf("the preconditions alone: %v, of %+v", evaluation.Preconditions, evaluation.Findings)
			}
		}
		want := []string{"nobody-on-it", "lamp-in-sight", "nobody-on-it"}
		if !inTheWay {
			want = want[:1]
		}
		if !slices.Equal(first, want) {
			t.Errorf("asked %v, want %v", first, want)
		}
	}
}

// TestPreflightTidiesUpBeforeTheGuardsAreAsked, and asks its own conditions first.
func TestPreflightTidiesUpBeforeTheGuardsAreAsked(t *testing.T) {
	b := newBench(t)
	ladder := true
	b.sees = func() runbook.Finding {
		if ladder {
			return runbook.No("a ladder is in the way")
		}
		return runbook.Yes("there it is")
	}
	result := b.run(b.untidy(&ladder))
	expect(t, result, runbook.Remediated, "")
	b.expectStory("opened", "evaluated step put-ladder-away", "evaluated step put-ladder-away", "intent put-ladder-away",
		"outcome put-ladder-away done", "evaluated start", "planned",
		"evaluated step hang-sign", "intent hang-sign", "outcome hang-sign done",
		"evaluated step switch-off", "intent switch-off", "outcome switch-off done",
		"evaluated checks", "closed remediated")
	if len(result.Findings) != 1 || result.Findings[0].Guard != "lamp-in-sight" {
		t.Errorf("the result's findings are %+v", result.Findings)
	}
}

func TestPreflightWithNothingToTidyAnnouncesNothing(t *testing.T) {
	b := newBench(t)
	ladder := false
	b.run(b.untidy(&ladder))
	if story := b.story(); story[1] != "evaluated step put-ladder-away" || story[2] != "evaluated start" {
		t.Errorf("the journal tells %q", story)
	}
	if want := []string{"nobody-on-it", "put-ladder-away", "lamp-in-sight"}; !slices.Equal(b.asked[:3], want) {
		t.Errorf("asked %v", b.asked)
	}
}

// TestPreflightIsFollowedByAFreshReading: what it tidied up is seen by the guards.
func TestPreflightIsFollowedByAFreshReading(t *testing.T) {
	b := newBench(t)
	ladder := true
	book := b.untidy(&ladder)
	tidied, asked := 0, 0
	apply := book.Preflight[0].Apply
	book.Preflight[0].Apply = func(ctx context.Context, run runbook.Run) error {
		tidied = run.Round()
		return apply(ctx, run)
	}
	book.Guards[0].Evaluate = func(_ context.Context, run runbook.Run) runbook.Finding {
		if asked == 0 {
			asked = run.Round()
		}
		return runbook.Yes("there it is")
	}
	expect(t, b.run(book), runbook.Remediated, "")
	if asked <= tidied {
		t.Errorf("tidied up in round %d, asked in round %d", tidied, asked)
	}
}

func TestPreflightThatDoesNotEndWellEndsTheRun(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(b *bench, step *runbook.Step)
		ends  runbook.Outcome
		want  string
		calls int
	}{
		"its condition does not hold": {ends: runbook.Deferred, want: "nobody-on-it does not hold: a painter",
			spoil: func(_ *bench, step *runbook.Step) {
				step.Preconditions[0] = answer("nobody-on-it", runbook.No("a painter").WithOutcome(runbook.Deferred))
			}},
		"it can't be observed": {ends: runbook.Undecided, want: "put-ladder-away: it can't be observed: fog",
			spoil: func(_ *bench, step *runbook.Step) {
				step.Observe = func(context.Context, runbook.Run) runbook.Observation {
					return runbook.NotObserved(apierr.New(apierr.Terminal, "fog"))
				}
			}},
		"it is refused": {ends: runbook.Failed, want: "put-ladder-away: stuck", calls: 1,
			spoil: func(b *bench, _ *runbook.Step) { b.faults["put-ladder-away"] = []error{errStuck} }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			ladder := true
			book := b.untidy(&ladder)
			row.spoil(b, &book.Preflight[0])
			result := b.run(book)
			expect(t, result, row.ends, row.want)
			if len(b.calls) != row.calls || slices.Contains(b.asked, "lamp-in-sight") || result.Open {
				t.Errorf("changes %v, asked %v, open %v", b.calls, b.asked, result.Open)
			}
		})
	}
}

// TestPreflightStopsWithTheRecord: it asks no more when its findings can't be written.
func TestPreflightStopsWithTheRecord(t *testing.T) {
	b := newBench(t)
	ladder := true
	book := b.untidy(&ladder)
	b.failOn(journal.Evaluated, "")
	if _, err := b.Run(t.Context(), book, engine.Options{}); err == nil {
		t.Error("the run ended well")
	}
	if want := []string{"nobody-on-it"}; !slices.Equal(b.asked, want) {
		t.Errorf("asked %v", b.asked)
	}
}

// TestCutOffPreflightIsObservedFirst: whether it happened is the first
// question, and what holds now is no answer to it.
func TestCutOffPreflightIsObservedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ladder := true
		b.interrupted(func(interrupt func()) runbook.Runbook {
			book := b.untidy(&ladder)
			book.Preflight[0].Await = func(ctx context.Context, run runbook.Run) error {
				interrupt()
				return untilItEnds(ctx, run)
			}
			return book
		})
		b.asked = nil
		expect(t, b.run(b.untidy(&ladder)), runbook.Remediated, "")
		if want := []string{"put-ladder-away", "lamp-in-sight"}; !slices.Equal(b.asked[:2], want) {
			t.Errorf("asked %v", b.asked)
		}
		if want := []string{"put-ladder-away", "hang-sign", "switch-off"}; !slices.Equal(b.calls, want) {
			t.Errorf("changes %v, want %v", b.calls, want)
		}
	})
}
