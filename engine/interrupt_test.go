package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// interrupted runs a runbook that is handed the function which interrupts it.
func (b *bench) interrupted(book func(interrupt func()) runbook.Runbook) engine.Result {
	b.t.Helper()
	ctx, cancel := context.WithCancelCause(b.t.Context())
	defer cancel(nil)
	result, err := b.Run(ctx, book(func() { cancel(engine.ErrInterrupted) }), engine.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// untilItEnds waits for something that never comes.
func untilItEnds(ctx context.Context, _ runbook.Run) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestInterruptedRunStaysOpenAndGoesOn: what was announced stays announced, for the
// next one to look.
func TestInterruptedRunStaysOpenAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			book := b.book()
			book.Steps[0].Await = func(ctx context.Context, run runbook.Run) error {
				interrupt()
				return untilItEnds(ctx, run)
			}
			return book
		})
		expect(t, result, runbook.NeedsAttention, "interrupted; the run is open and can be resumed")
		if !result.Open || !b.sign {
			t.Errorf("open %v, sign %v: an interrupted run is left where it is", result.Open, b.sign)
		}
		b.expectStory("opened", "evaluated start", "planned", "evaluated step hang-sign", "intent hang-sign",
			"interrupted", "parked needs-attention")
		b.asked = nil
		expect(t, b.run(b.book()), runbook.Remediated, "")
		if want := []string{"hang-sign", "switch-off"}; !slices.Equal(b.calls, want) {
			t.Errorf("changes %v, want %v", b.calls, want)
		}
		if want := []string{"hang-sign", "lamp-in-sight", "switch-off"}; !slices.Equal(b.asked, want) {
			t.Errorf("asked %v, want %v: it is observed once", b.asked, want)
		}
	})
}

func TestInterruptedAtAnyMomentNothingMoreIsDone(t *testing.T) {
	for name, row := range map[string]struct {
		at    func(b *bench, book *runbook.Runbook, interrupt func())
		ends  runbook.Outcome
		calls []string // the changes
		asked []string // what the world is still asked
		// waited is how many pauses are announced.
		waited int
	}{
		"while a guard of the start is asked": {ends: runbook.Failed,
			at: func(_ *bench, book *runbook.Runbook, interrupt func()) {
				book.Guards[0].Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
					interrupt()
					<-ctx.Done()
					return runbook.Unknown(ctx.Err())
				}
			}},
		"while a step is observed": {ends: runbook.Failed,
			at: func(_ *bench, book *runbook.Runbook, interrupt func()) {
				book.Steps[0].Observe = func(ctx context.Context, _ runbook.Run) runbook.Observation {
					interrupt()
					<-ctx.Done()
					return runbook.NotObserved(ctx.Err())
				}
			}},
		"as a guard of a step answers": {ends: runbook.Failed,
			at: func(b *bench, _ *runbook.Runbook, interrupt func()) {
				b.sees = func() runbook.Finding {
					if len(b.asked) == 2 {
						interrupt()
					}
					return runbook.Yes("there it is")
				}
			}, asked: []string{"hang-sign"}},
		"as a step is observed": {ends: runbook.Failed,
			at: func(_ *bench, book *runbook.Runbook, interrupt func()) {
				book.Steps[0].Observe = func(context.Context, runbook.Run) runbook.Observation {
					interrupt()
					return runbook.NotStarted("not yet")
				}
			}},
		"while the next attempt is waited for": {ends: runbook.NeedsAttention, calls: []string{"hang-sign"}, waited: 1,
			at: func(b *bench, _ *runbook.Runbook, interrupt func()) {
				b.faults["hang-sign"] = []error{apierr.New(apierr.Throttled, "429")}
				watch := b.Watch
				b.Watch = func(event engine.Event) {
					if watch(event); event.Kind == engine.Waiting {
						interrupt()
					}
				}
			}},
		"as a change is refused for now": {ends: runbook.NeedsAttention, calls: []string{"hang-sign"},
			at: func(b *bench, book *runbook.Runbook, interrupt func()) {
				b.faults["hang-sign"] = []error{apierr.New(apierr.Throttled, "429")}
				apply := book.Steps[0].Apply
				book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
					interrupt()
					return apply(ctx, run)
				}
			}},
		"while a preflight is observed": {ends: runbook.Failed,
			at: func(b *bench, book *runbook.Runbook, interrupt func()) {
				tidy := b.step("tidy", func() bool { return false }, func() {})
				tidy.Observe = func(ctx context.Context, _ runbook.Run) runbook.Observation {
					interrupt()
					<-ctx.Done()
					return runbook.NotObserved(ctx.Err())
				}
				book.Preflight = []runbook.Step{tidy}
			}},
		"as a step ends well, whatever the checks would say": {ends: runbook.NeedsAttention, calls: []string{"hang-sign"},
			at: func(_ *bench, book *runbook.Runbook, interrupt func()) {
				book.Checks = []runbook.Guard{answer("always", runbook.Yes(""))}
				book.Steps[0].Await = func(context.Context, runbook.Run) error { interrupt(); return nil }
			}},
		"as a step ends well": {ends: runbook.NeedsAttention, calls: []string{"hang-sign"},
			at: func(_ *bench, book *runbook.Runbook, interrupt func()) {
				book.Steps[0].Await = func(context.Context, runbook.Run) error { interrupt(); return nil }
			}},
		"as a step is refused for good": {ends: runbook.NeedsAttention, calls: []string{"hang-sign"},
			at: func(b *bench, book *runbook.Runbook, interrupt func()) {
				b.faults["hang-sign"] = []error{errStuck}
				book.Steps[0].RetryWith = func(context.Context, runbook.Run, error) (bool, error) {
					interrupt()
					return true, nil
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				asked := -1 // until the interruption
				waited := 0
				b.Watch = func(event engine.Event) {
					if event.Kind == engine.Waiting {
						waited++
					}
				}
				result := b.interrupted(func(interrupt func()) runbook.Runbook {
					book := b.book()
					row.at(b, &book, func() {
						if asked < 0 {
							asked = len(b.asked)
						}
						interrupt()
					})
					return book
				})
				expect(t, result, row.ends, "interrupted")
				if more := b.asked[asked:]; !slices.Equal(b.calls, row.calls) || !slices.Equal(more, row.asked) {
					t.Errorf("changes %v, want %v; asked %v after the interruption, want %v", b.calls, row.calls, more, row.asked)
				}
				if waited != row.waited {
					t.Errorf("%d pauses announced", waited)
				}
			})
		})
	}
}

// TestInterruptionAfterTheLastStepStopsNothing: what is left is to look at what was done.
func TestInterruptionAfterTheLastStepStopsNothing(t *testing.T) {
	b := newBench(t)
	result := b.interrupted(func(interrupt func()) runbook.Runbook {
		book := b.book()
		book.Steps[1].Await = func(context.Context, runbook.Run) error { interrupt(); return nil }
		return book
	})
	expect(t, result, runbook.Remediated, "all final checks hold")
}

// TestInterruptedCheckIsNoSuccess: nor is it a failed check.
func TestInterruptedCheckIsNoSuccess(t *testing.T) {
	for name, inPause := range map[string]bool{"while it is asked": false, "between two rounds": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				checked := 0
				result := b.interrupted(func(interrupt func()) runbook.Runbook {
					book := b.book()
					book.Checks[0].Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
						checked++
						if inPause {
							time.AfterFunc(time.Millisecond, interrupt)
							return runbook.No("there is still a glow")
						}
						interrupt()
						<-ctx.Done()
						return runbook.Unknown(ctx.Err())
					}
					return book
				})
				expect(t, result, runbook.NeedsAttention, "interrupted")
				if !result.Open || checked != 1 {
					t.Errorf("open %v, checked %d times", result.Open, checked)
				}
				if journaled := len(b.evaluations("checks")) == 1; journaled != inPause {
					t.Errorf("the journal tells %q", b.story())
				}
			})
		})
	}
}

func TestInterruptionIsNoAnswerOfAGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			book := b.book()
			time.AfterFunc(time.Minute, interrupt)
			book.Guards[0].Evaluate = func(ctx context.Context, _ runbook.Run) runbook.Finding {
				<-ctx.Done()
				return runbook.Unknown(ctx.Err())
			}
			return book
		})
		expect(t, result, runbook.Failed, "interrupted before anything was changed")
		b.expectStory("opened", "interrupted", "closed failed")
	})
}

// TestInterruptedRunWaitsForWhatIsAtWork: a step may need a moment to stop.
func TestInterruptedRunWaitsForWhatIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		stopped := false
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			book := b.book()
			book.Steps[0].Apply = func(ctx context.Context, _ runbook.Run) error {
				interrupt()
				<-ctx.Done()
				err := clock.Sleep(context.WithoutCancel(ctx), clock.Real{}, 30*time.Second)
				stopped = true
				return errors.Join(err, ctx.Err())
			}
			return book
		})
		if expect(t, result, runbook.NeedsAttention, "interrupted"); !stopped {
			t.Error("the run ended before its step")
		}
	})
}

// TestInterruptedRolloutAsksWhatIsOpen: of runs that stay open the questions are asked
// at once, so that they can be answered when the run is resumed.
func TestInterruptedRolloutAsksWhatIsOpen(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		observed := map[string]int{}
		result := b.interrupted(func(interrupt func()) runbook.Runbook {
			book := s.letters(3, "letter", "parcel")
			s.fails = map[string][]error{}
			for i, step := range book.Steps {
				observe := step.Observe
				book.Steps[i].Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
					s.mu.Lock()
					observed[step.Name]++
					s.mu.Unlock()
					return observe(ctx, run)
				}
				book.Steps[i].Await = untilItEnds
			}
			walk := s.step("walk")
			observe := walk.Observe
			walk.Observe = func(ctx context.Context, run runbook.Run) runbook.Observation {
				if run.Step("walk").Done {
					return runbook.Undecidable("Why is that asked?", "it is done")
				}
				return observe(ctx, run)
			}
			book.Steps = append(book.Steps, walk)
			time.AfterFunc(time.Minute, interrupt)
			return book
		})
		expect(t, result, runbook.NeedsAttention, "interrupted; 1 of 3 steps are done; not done: letter, parcel")
		if want := "Did letter arrive? Did parcel arrive?"; result.Question != want || !result.Open {
			t.Errorf("asked %q, want %q", result.Question, want)
		}
		if observed["letter"] != 2 {
			t.Errorf("observed %v", observed)
		}
	})
}

// TestCallersDeadlineIsNotTheRunsBudget: each is named as what it is.
func TestCallersDeadlineIsNotTheRunsBudget(t *testing.T) {
	for name, row := range map[string]struct {
		deadline time.Duration
		want     string
	}{
		"the budget":            {deadline: 2 * time.Hour, want: "timed out: the run's budget of 1h0m0s is over"},
		"the caller's deadline": {deadline: 10 * time.Minute, want: "timed out: the caller's deadline passed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				ctx, cancel := context.WithTimeout(t.Context(), row.deadline)
				defer cancel()
				book := b.book()
				book.Steps[0].Await = untilItEnds
				result, err := b.Run(ctx, book, engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				expect(t, result, runbook.Failed, row.want)
				if b.sign || result.Open {
					t.Errorf("sign out: %v, open: %v", b.sign, result.Open)
				}
			})
		})
	}
}

// TestRollbackHasItsOwnTime: the rollback has its own time, and ends where the
// record says.
func TestRollbackHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Steps[0].Await = untilItEnds
		book.Steps[0].Rollback.Await = untilItEnds
		began := time.Now()
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention,
			"budget of 1h0m0s is over; and what step hang-sign did could not be rolled back")
		if took := time.Since(began); took != time.Hour+20*time.Minute || !result.Open {
			t.Errorf("took %s, open %v", took, result.Open)
		}
		if step := b.record("run-1").Step("take-sign-in"); !step.Open {
			t.Errorf("the rollback's step is %+v, want an open intent", step)
		}
		last := b.record("run-1").Entries
		if kind := last[len(last)-1].Kind; kind != journal.Parked {
			t.Errorf("the last entry is %s", kind)
		}
	})
}
