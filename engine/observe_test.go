package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/runbook"
)

// TestWorldThatCannotBeSeenIsObservedAgain, for five minutes, where that may help.
func TestWorldThatCannotBeSeenIsObservedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		class  apierr.Class
		clears bool
		ends   runbook.Outcome
		most   time.Duration
	}{
		"lost answers":                {class: apierr.Transient, clears: true, ends: runbook.Remediated, most: time.Minute},
		"denied while rights spread":  {class: apierr.Denied, clears: true, ends: runbook.Remediated, most: time.Minute},
		"lost answers that never end": {class: apierr.Transient, ends: runbook.Undecided, most: 5 * time.Minute},
		"refused for good":            {class: apierr.Terminal, ends: runbook.Undecided},
		"what it is in is not there":  {class: apierr.Missing, ends: runbook.Undecided},
		"nobody knows what it means":  {class: apierr.Unclassified, ends: runbook.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := b.book()
				observe, observations := book.Steps[0].Observe, 0
				book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
					if observations++; row.clears && observations > 3 {
						return observe(ctx, run)
					}
					return runbook.NotObserved(apierr.New(row.class, "fog"))
				}
				began := time.Now()
				result := b.run(book)
				expect(t, result, row.ends, "")
				if took := time.Since(began); took > row.most || row.most == 5*time.Minute && took != row.most {
					t.Errorf("took %s", took)
				}
				if row.ends == runbook.Undecided && (len(b.calls) > 0 || result.Open ||
					result.Reason != "step hang-sign: it can't be observed: fog") {
					t.Errorf("changes %v, %+v", b.calls, result)
				}
			})
		})
	}
}

// TestWaitingForWhatStaysAsItIsHelpsNobody: a refusal that says so is asked for once, whatever its class.
func TestWaitingForWhatStaysAsItIsHelpsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book, observations := b.book(), 0
		book.Steps[0].Observe = func(context.Context, runbook.Run) runbook.Observation {
			observations++
			return runbook.NotObserved(&apierr.PermanentError{Err: apierr.New(apierr.Denied, "no such role")})
		}
		began := time.Now()
		expect(t, b.run(book), runbook.Undecided, "it can't be observed: no such role")
		if took := time.Since(began); took > 0 || observations != 1 {
			t.Errorf("%d observations in %s", observations, took)
		}
	})
}

// TestGuardsAreAskedAgainAfterALongObservation: what they saw before a step could be observed is no ground for a
// permit any more.
func TestGuardsAreAskedAgainAfterALongObservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		observe, began := book.Steps[0].Observe, time.Now()
		b.sees = func() runbook.Finding {
			if time.Since(began) < time.Minute {
				return runbook.Yes("there it is")
			}
			return runbook.No("it was moved meanwhile")
		}
		book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
			if time.Since(began) < 2*time.Minute {
				return runbook.NotObserved(apierr.New(apierr.Transient, "fog"))
			}
			return observe(ctx, run)
		}
		expect(t, b.run(book), runbook.NothingToDo, "it was moved meanwhile")
		if len(b.calls) > 0 {
			t.Errorf("changes %v on guards of two minutes ago", b.calls)
		}
	})
}

// TestRecordThatIsLostWhileAStepIsObservedEndsTheRun: it is no question about the world.
func TestRecordThatIsLostWhileAStepIsObservedEndsTheRun(t *testing.T) {
	for name, row := range map[string]struct {
		lose func(b *bench, ctx context.Context) error
		want string
	}{
		"to another runner": {want: "lease lost",
			lose: func(b *bench, ctx context.Context) error { return b.usurp(ctx, "lamp/1") }},
		"to a full disk": {want: "no space left",
			lose: func(b *bench, _ context.Context) error { b.Journal.(*failing).full = true; return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if name == "to a full disk" {
				b.Engine.Journal = &failing{Store: b.Journal, on: "never"}
			}
			book := b.book()
			book.Steps[1].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
				return runbook.NotObserved(errors.Join(row.lose(b, ctx), run.Note(ctx, "seen", 1)))
			}
			told := 0
			book.Steps[1].Inputs = func(runbook.Run) (any, error) { told++; return nil, nil }
			result := b.run(book)
			expect(t, result, runbook.NeedsAttention, row.want)
			if lost := row.want == "lease lost"; result.Unrecorded == lost || lost && result.Question != "" || told != 1 {
				t.Errorf("inputs asked for %d times, %+v", told, result)
			}
		})
	}
}

// TestBlindnessAfterAnIntentIsAQuestion, because the change may have happened.
func TestBlindnessAfterAnIntentIsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["hang-sign"] = []error{errLost}
		book := b.book()
		observe := book.Steps[0].Observe
		book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
			if run.Step("hang-sign").Attempts > 0 {
				return runbook.NotObserved(apierr.New(apierr.Terminal, "fog"))
			}
			return observe(ctx, run)
		}
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "it can't be observed: fog")
		want := `Has the change of step "hang-sign" happened? It can't be observed: fog`
		if result.Question != want || !result.Open {
			t.Errorf("asked %q, want %q; open %v", result.Question, want, result.Open)
		}
	})
}

// TestWhatIsAskedIsWhyThereWasNoAnswer, not that the last attempt was cut off when the patience ended.
func TestWhatIsAskedIsWhyThereWasNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		attempts := 0
		book.Steps[0].Observe = func(ctx context.Context, _ runbook.Run) runbook.Observation {
			if attempts++; attempts == 1 {
				return runbook.NotObserved(apierr.New(apierr.Transient, "the list has no nails, and a nail is there"))
			}
			<-ctx.Done()
			return runbook.NotObserved(ctx.Err())
		}
		expect(t, b.run(book), runbook.Undecided, "a nail is there; the last attempt: context canceled")
	})
}

// TestLastAnswerIsTheReason where it is one: it came late, or another attempt gave up by itself before.
func TestLastAnswerIsTheReason(t *testing.T) {
	for name, observe := range map[string]func(ctx context.Context, attempts int) error{
		"an answer when the patience is over": func(ctx context.Context, attempts int) error {
			if attempts == 1 {
				return apierr.New(apierr.Transient, "fog")
			}
			<-ctx.Done()
			return apierr.New(apierr.Denied, "forbidden")
		},
		"attempts that give up by themselves": func(_ context.Context, attempts int) error {
			if attempts == 1 {
				return apierr.New(apierr.Transient, "fog")
			}
			return &apierr.Error{Class: apierr.Denied, Err: fmt.Errorf("forbidden: %w", context.DeadlineExceeded)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book, attempts := b.book(), 0
				book.Steps[0].Observe = func(ctx context.Context, _ runbook.Run) runbook.Observation {
					attempts++
					return runbook.NotObserved(observe(ctx, attempts))
				}
				result := b.run(book)
				expect(t, result, runbook.Undecided, "it can't be observed: forbidden")
				if strings.Contains(result.Reason, "fog") || strings.Contains(result.Reason, "the last attempt") {
					t.Errorf("the reason is %q", result.Reason)
				}
			})
		})
	}
}

// TestChangeThatIsUnderWayIsOnlyWaitedFor: it was accepted already, by whomever.
func TestChangeThatIsUnderWayIsOnlyWaitedFor(t *testing.T) {
	b := newBench(t)
	book := b.book()
	book.Steps[0].Observe = func(context.Context, runbook.Run) runbook.Observation {
		return runbook.InFlight("the nail is half in")
	}
	book.Steps[0].Await = func(context.Context, runbook.Run) error { b.sign = true; return nil }
	var told []string
	b.Watch = func(event engine.Event) {
		if event.Kind == engine.StepBegan {
			told = append(told, fmt.Sprintf("%s %d %s", event.Step, event.Attempt, event.Text))
		}
	}
	expect(t, b.run(book), runbook.Remediated, "")
	want := []string{"hang-sign 0 already under way: the nail is half in", "switch-off 1 "}
	if !slices.Equal(b.calls, []string{"switch-off"}) || !slices.Equal(told, want) {
		t.Errorf("changes %v, told %q, want %q", b.calls, told, want)
	}
}

// TestDoneAlreadyIsDone: nothing is announced, and the reason is what was seen.
func TestDoneAlreadyIsDone(t *testing.T) {
	b := newBench(t)
	b.sign = true
	var told []string
	b.Watch = func(event engine.Event) {
		if event.Step == "hang-sign" {
			told = append(told, string(event.Kind))
		}
	}
	b.run(b.book())
	b.expectStory("opened", "evaluated start", "planned",
		"evaluated step hang-sign", "outcome hang-sign done observed",
		"evaluated step switch-off", "intent switch-off", "outcome switch-off done",
		"evaluated checks", "closed remediated")
	if want := []string{"step-began", "step-ended"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if reason := b.record("run-1").Step("hang-sign").Last.Reason; reason != "already so" {
		t.Errorf("the reason is %q", reason)
	}
}
