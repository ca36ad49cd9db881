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

// stuck is a runbook whose last change was accepted and doesn't come to its end.
func (b *bench) stuck() runbook.Runbook {
	book := b.book()
	book.Steps[1].Await = func(context.Context, runbook.Run) error { return apierr.New(apierr.Terminal, "stuck") }
	book.Steps[1].Observe = func(context.Context, runbook.Run) runbook.Observation {
		return runbook.NotStarted("it glows")
	}
	return book
}

func TestFailurePastTheReturnParksAndUndoesNothing(t *testing.T) {
	b := newBench(t)
	result := b.run(b.stuck())
	expect(t, result, runbook.NeedsAttention, "the sign stays out")
	if !b.sign || !result.Open || result.Question == "" {
		t.Errorf("sign %v, %+v", b.sign, result)
	}
}

func TestAnAcceptedChangeIsNotForgottenWhenWaitingForItFails(t *testing.T) {
	for name, fault := range map[string]error{
		"denied":    apierr.New(apierr.Denied, "403"),
		"throttled": apierr.New(apierr.Throttled, "429"),
		"preempted": apierr.New(apierr.Conflict, "preempted"),
		"lost":      errLost,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				waited := 0
				book := b.book()
				book.Steps[1].Await = func(context.Context, runbook.Run) error {
					if waited++; waited == 1 {
						return fault
					}
					return nil
				}
				b.sees = func() runbook.Finding {
					if !b.on { // once the lamp is off, the guard can't hold any more
						return runbook.No("it is dark")
					}
					return runbook.Yes("there it is")
				}
				expect(t, b.run(book), runbook.Remediated, "")
				if want := []string{"hang-sign", "switch-off"}; !slices.Equal(b.calls, want) {
					t.Errorf("changes %v, want %v", b.calls, want)
				}
			})
		})
	}
}

func TestRefusedAtThePointOfNoReturnAndThenMendedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["switch-off"] = []error{apierr.New(apierr.Conflict, "409"), apierr.New(apierr.Conflict, "409")}
		began := time.Now()
		b.sees = func() runbook.Finding {
			if time.Since(began) > 8*time.Second {
				return runbook.No("it went out by itself")
			}
			return runbook.Yes("there it is")
		}
		result := b.run(b.book())
		expect(t, result, runbook.NothingToDo, "went out by itself")
		if b.sign || result.Open {
			t.Errorf("sign %v, open %v", b.sign, result.Open)
		}
	})
}

// TestWhatHappenedInPartIsNotUndone: that the rest was refused for good takes nothing
// back of what lies behind the point of no return.
func TestWhatHappenedInPartIsNotUndone(t *testing.T) {
	for partial, want := range map[bool]runbook.Outcome{false: runbook.NothingToDo, true: runbook.NeedsAttention} {
		t.Run(fmt.Sprint("partial ", partial), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				began := time.Now()
				b.sees = func() runbook.Finding {
					if time.Since(began) > 3*time.Minute {
						return runbook.No("it is somebody else's by now")
					}
					return runbook.Yes("there it is")
				}
				book := b.book()
				book.Steps[1].Apply = func(context.Context, runbook.Run) error {
					time.Sleep(4 * time.Minute) // no request is on its way for so long
					return errLost
				}
				book.Steps[1].Observe = func(context.Context, runbook.Run) runbook.Observation {
					return runbook.Observation{State: runbook.StateNotStarted, Partial: partial, Reason: "it glows"}
				}
				result := b.run(book)
				expect(t, result, want, "somebody else's")
				if b.sign != partial || result.Open != partial {
					t.Errorf("sign %v, open %v", b.sign, result.Open)
				}
			})
		})
	}
}

func TestABudgetOfAStepIsNoInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Steps[0].Budget = time.Minute
		book.Steps[0].Await = func(ctx context.Context, _ runbook.Run) error {
			<-ctx.Done()
			return fmt.Errorf("calling: %w", ctx.Err()) // as an HTTP call does: context.Canceled
		}
		expect(t, b.run(book), runbook.Failed, "not complete within 1m0s")
		if b.sign {
			t.Error("the sign was left out")
		}
	})
}

func TestAnOpenRunIsNotGoneOnWithUnderOtherInputs(t *testing.T) {
	b := newBench(t)
	book := b.stuck()
	book.Inputs = map[string]int{"watts": 40}
	b.run(book)
	book.Inputs = map[string]int{"watts": 60}
	_, err := b.Run(context.Background(), book, engine.Options{})
	var usage *engine.InvalidError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "40") {
		t.Errorf("got %v", err)
	}
}
