package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// watched notes the events of kinds, as "kind step text".
func (b *bench) watched(kinds ...engine.EventKind) *[]string {
	var told []string
	b.Watch = func(event engine.Event) {
		if slices.Contains(kinds, event.Kind) {
			told = append(told, fmt.Sprintf("%s %s %s", event.Kind, event.Step, event.Text))
		}
	}
	return &told
}

// TestInterruptedNoFurtherStepBegins: those at work end first, also well.
func TestInterruptedNoFurtherStepBegins(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			floor := s.step("floor")
			apply := floor.Apply
			floor.Apply = func(ctx context.Context, run runbook.Run) error {
				interrupt()
				return apply(context.WithoutCancel(ctx), run)
			}
			book := s.book(1, floor, s.step("fence"))
			book.KeepGoing = true
			return book
		})
		expect(t, result, runbook.NeedsAttention, "interrupted; 1 of 2 steps are done; not begun: fence")
		if want := []string{"floor"}; !slices.Equal(s.order, want) || !b.record("run-1").Step("floor").Finished() {
			t.Errorf("built %v, %+v", s.order, b.record("run-1").Step("floor"))
		}
	})
}

// TestSeveralFailuresAreAllNamed: the first may be why the others failed.
func TestSeveralFailuresAreAllNamed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		var steps []runbook.Step
		for i := range 8 {
			name := fmt.Sprint("wall-", i)
			s.fails[name] = []error{apierr.New(apierr.Terminal, "%s fell", name)}
			steps = append(steps, s.step(name))
		}
		book := s.book(1, append(steps, s.step("fence"), s.step("roof", "wall-0"))...)
		book.KeepGoing = true
		result := b.run(book)
		expect(t, result, runbook.Failed, "step wall-0: wall-0 fell; "+
			"wall-1, wall-2, wall-3, wall-4, wall-5 and 2 more failed too; "+
			"1 of 10 steps are done; not done: wall-0, wall-1, wall-2, wall-3, wall-4 and 3 more; not begun: roof")
		if !result.Open || s.done["fence"] != 1 {
			t.Errorf("open %v, built %v", result.Open, s.done)
		}
	})
}

// TestDecisionAmongFailuresIsTheVerdict: a guard's outcome is not lost among others.
func TestDecisionAmongFailuresIsTheVerdict(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["floor"] = []error{errStuck}
		fence := s.step("fence")
		fence.Preconditions = []runbook.Guard{answer("dry", runbook.No("it rains").WithOutcome(runbook.Deferred))}
		book := s.book(1, s.step("floor"), fence)
		book.KeepGoing = true
		expect(t, b.run(book), runbook.Deferred, "dry does not hold: it rains")
	})
}

// TestLostLeaseEndsWhatIsAtWork, whatever the runbook says about going on.
func TestLostLeaseEndsWhatIsAtWork(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		long := s.step("fence")
		ended := false
		long.Apply = func(ctx context.Context, _ runbook.Run) error {
			err := clock.Sleep(ctx, clock.Real{}, 12*time.Hour)
			ended = err != nil
			return err
		}
		floor := s.step("floor")
		floor.Apply = func(ctx context.Context, _ runbook.Run) error {
			return errors.Join(clock.Sleep(ctx, clock.Real{}, time.Hour), b.usurp(ctx, "site/1"))
		}
		book := s.book(2, floor, long, s.step("roof"))
		book.KeepGoing = true
		began := time.Now()
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "lease lost")
		if took := time.Since(began); took != time.Hour || !ended || len(s.order) > 0 {
			t.Errorf("took %s, ended %v, built %v", took, ended, s.order)
		}
	})
}

// TestLostLeaseComesBeforeAnInterruption: what ends the run whatever its steps do
// comes before the interruption.
func TestLostLeaseComesBeforeAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			floor := s.step("floor")
			floor.Apply = func(ctx context.Context, _ runbook.Run) error {
				interrupt()
				return b.usurp(context.WithoutCancel(ctx), "site/1")
			}
			return s.book(1, floor, s.step("roof"))
		})
		expect(t, result, runbook.NeedsAttention, "lease lost")
	})
}

func TestInterruptedRetryIsNotWaitedFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		told := b.watched(engine.Waiting)
		began := time.Now()
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			s.fails["roof"] = []error{errStuck}
			roof := s.step("roof")
			roof.Retries = &runbook.Retries{Count: 1, Between: time.Hour, When: func(error) bool { return true }}
			time.AfterFunc(time.Minute, interrupt)
			return s.book(1, roof)
		})
		expect(t, result, runbook.NeedsAttention, "interrupted; 0 of 1 steps are done; not done: roof")
		if took := time.Since(began); took != time.Minute || len(s.order) != 1 {
			t.Errorf("took %s, built %v", took, s.order)
		}
		if want := []string{"waiting roof step roof: stuck; retry 1 of 1 in 1h0m0s"}; !slices.Equal(*told, want) {
			t.Errorf("told %q, want %q", *told, want)
		}
		time.Sleep(2 * time.Hour) // nothing is left that waits
	})
}

// TestFailureElsewhereEndsRetries: no further step begins, nor another attempt.
func TestFailureElsewhereEndsRetries(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"], s.fails["floor"] = []error{errStuck}, []error{apierr.New(apierr.Terminal, "quake")}
		roof := s.step("roof")
		roof.Retries = &runbook.Retries{Count: 5, Between: time.Hour, When: func(error) bool { return true }}
		floor := s.step("floor")
		apply := floor.Apply
		floor.Apply = func(ctx context.Context, run runbook.Run) error {
			return errors.Join(clock.Sleep(ctx, clock.Real{}, time.Minute), apply(ctx, run))
		}
		began := time.Now()
		result := b.run(s.book(2, roof, floor))
		expect(t, result, runbook.Failed, "quake")
		if took := time.Since(began); took > 2*time.Minute || len(s.order) != 2 {
			t.Errorf("took %s, built %v", took, s.order)
		}
	})
}

// TestRetriesOfCodeThatPanicsAreNone: a slip there must not end the program.
func TestRetriesOfCodeThatPanicsAreNone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{errStuck}
		roof := s.step("roof")
		roof.Retries = &runbook.Retries{Count: 5, When: func(error) bool { panic("no idea") }}
		expect(t, b.run(s.book(1, roof)), runbook.Failed, "stuck")
		if len(s.order) != 1 {
			t.Errorf("built %v", s.order)
		}
	})
}

// TestLostLeaseOutlivesAnInterruption that comes while the steps at work end.
func TestLostLeaseOutlivesAnInterruption(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			floor, fence := s.step("floor"), s.step("fence")
			floor.Apply = func(ctx context.Context, _ runbook.Run) error {
				return errors.Join(clock.Sleep(ctx, clock.Real{}, time.Hour), b.usurp(ctx, "site/1"))
			}
			fence.Apply = func(ctx context.Context, _ runbook.Run) error {
				<-ctx.Done() // when the lease is lost
				time.AfterFunc(time.Second, interrupt)
				return clock.Sleep(context.WithoutCancel(ctx), clock.Real{}, time.Minute/2)
			}
			return s.book(2, floor, fence, s.step("roof"))
		})
		expect(t, result, runbook.NeedsAttention, "lease lost")
		if story := b.story(); slices.Contains(story, "interrupted") || result.Unrecorded || result.Question != "" {
			t.Errorf("ended %+v, the journal tells %q", result, story)
		}
	})
}

// TestWhatEndsTheRunIsItsReason, also when another step failed before.
func TestWhatEndsTheRunIsItsReason(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["fence"] = []error{errStuck}
		floor := s.step("floor")
		floor.Apply = func(ctx context.Context, _ runbook.Run) error {
			return errors.Join(clock.Sleep(ctx, clock.Real{}, time.Hour), b.usurp(ctx, "site/1"))
		}
		result := b.run(s.book(2, floor, s.step("fence")))
		if expect(t, result, runbook.NeedsAttention, "lease lost"); !strings.HasPrefix(result.Reason, "lease lost") {
			t.Errorf("the reason is %q", result.Reason)
		}
	})
}

func TestInterruptedWhileItLooksFirstNothingBegins(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		cutOff := func(interrupt func()) runbook.Runbook {
			floor, shed := s.step("floor"), s.step("shed")
			floor.Apply, shed.Apply = untilItEnds, untilItEnds
			time.AfterFunc(time.Hour, interrupt)
			return s.book(2, floor, shed)
		}
		b.interrupted(cutOff)
		s.order, s.asked = nil, nil
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			book := cutOff(func() {})
			book.Steps[0].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
				interrupt()
				return runbook.NotObserved(untilItEnds(ctx, run))
			}
			return book
		})
		expect(t, result, runbook.NeedsAttention, "interrupted")
		if want := []string{"shed"}; len(s.order) > 0 || !slices.Equal(s.asked, want) {
			t.Errorf("built %v, observed %v, want %v: once, for what is to be asked", s.order, s.asked, want)
		}
		story, want := b.story(), []string{"resumed", "interrupted", "parked needs-attention"}
		if !slices.Equal(story[len(story)-3:], want) {
			t.Errorf("the journal ends with %q, want %q", story[len(story)-3:], want)
		}
	})
}

func TestSkippedStepIsToldAgainOnResume(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{errStuck}
		walls := s.step("walls")
		walls.Skip = "skipped by --skip"
		book := s.book(1, walls, s.step("roof", "walls"))
		b.run(book)
		var told []string
		b.Watch = func(event engine.Event) {
			if event.Kind == engine.StepEnded {
				told = append(told, fmt.Sprintf("%s %s: %s", event.Step, event.Result.Result, event.Result.Reason))
			}
		}
		before := len(b.story())
		expect(t, b.run(book), runbook.RolledOut, "1 of 2 steps are done, walls was skipped")
		if want := []string{"walls skipped: skipped by --skip", "roof done: "}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if story := b.story()[before:]; slices.Contains(story, "outcome walls skipped") {
			t.Errorf("it is journaled again: %q", story)
		}
	})
}

// TestCutOffStepsAreLookedAtFirst: before any other begins, where several may have been
// at work.
func TestCutOffStepsAreLookedAtFirst(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		b.interrupted(func(interrupt func()) runbook.Runbook {
			var steps []runbook.Step
			for _, name := range []string{"done", "begun", "never", "skipped"} {
				step := s.step(name)
				step.Await = untilItEnds
				steps = append(steps, step)
			}
			time.AfterFunc(time.Hour, interrupt)
			return s.book(4, steps...)
		})
		var mu sync.Mutex
		var asked []string
		var rounds []int
		see := func(name string, seen func() runbook.Observation) runbook.Step {
			step := s.step(name)
			step.Observe = func(_ context.Context, run runbook.Run) runbook.Observation {
				mu.Lock()
				defer mu.Unlock()
				asked, rounds = append(asked, name), append(rounds, run.Round())
				return seen()
			}
			return step
		}
		skipped := see("skipped", func() runbook.Observation { return runbook.Undecidable("?", "nobody asks") })
		skipped.Skip = "not today"
		missing := runbook.NotStarted("it is not there")
		book := s.book(1,
			see("done", func() runbook.Observation { return runbook.Done("it stands") }),
			see("begun", func() runbook.Observation { return runbook.InFlight("it rises") }),
			see("never", func() runbook.Observation { return missing }), skipped)
		before := len(b.story())
		plans := b.watched(engine.PlanMade)
		expect(t, b.run(book), runbook.RolledOut, "3 of 4 steps are done, skipped was skipped")
		if want := []string{"done", "begun", "never"}; !slices.Equal(asked[:3], want) {
			t.Errorf("asked %v first, want %v", asked, want)
		}
		if slices.Sort(rounds); len(slices.Compact(slices.Clone(rounds))) != len(rounds) {
			t.Errorf("observed in the rounds %v", rounds)
		}
		want := []string{"resumed", "outcome never failed observed, never happened"}
		if story := b.story()[before:]; !slices.Equal(story[:2], want) {
			t.Errorf("the journal goes on with %q, want %q", story, want)
		}
		if len(*plans) != 1 {
			t.Errorf("the plan was told %d times", len(*plans))
		}
	})
}

func TestNothingBeginsWhenACutOffStepCannotBeClosed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		b.interrupted(func(interrupt func()) runbook.Runbook {
			step := s.step("floor")
			step.Apply = untilItEnds
			time.AfterFunc(time.Hour, interrupt)
			return s.book(2, step)
		})
		b.failOn(journal.Outcome, "")
		s.asked = nil
		result := b.run(s.book(2, s.step("floor"), s.step("fence")))
		if want := []string{"floor"}; !result.Unrecorded || len(s.order) > 0 || !slices.Equal(s.asked, want) {
			t.Errorf("built %v, observed %v, %+v", s.order, s.asked, result)
		}
	})
}
