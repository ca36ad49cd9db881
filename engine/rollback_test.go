package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"salve/internal/apierr"
	"salve/journal"
	"salve/runbook"
)

// undoable is a step of a site with a rollback that tears down what it built.
func (s *site) undoable(name string, after ...string) runbook.Step {
	step := s.step(name, after...)
	back := s.step("undo-" + name)
	back.After = nil
	back.Observe = func(context.Context, runbook.Run) runbook.Observation {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.done[name] == 0 {
			return runbook.Done("it does not stand")
		}
		return runbook.NotStarted("it stands")
	}
	apply := back.Apply
	back.Apply = func(ctx context.Context, run runbook.Run) error {
		err := apply(ctx, run)
		if err == nil {
			s.done[name] = 0
		}
		return err
	}
	step.Rollback = &back
	return step
}

// TestRollbackGoesBackwardsOverWhatBegan, and over nothing else: not over what was there
// already, what was never begun, and what has nothing to take back.
func TestRollbackGoesBackwardsOverWhatBegan(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.done["well"] = 1
		s.fails["roof"] = []error{errStuck}
		book := s.book(1, s.undoable("well"), s.undoable("floor", "well"), s.step("walls", "floor"),
			s.undoable("beams", "walls"), s.undoable("roof", "beams"), s.undoable("flag", "roof"))
		book.KeepOpen = false
		result := b.run(book)
		expect(t, result, runbook.Failed, "step roof: stuck")
		if want := []string{"floor", "walls", "beams", "roof", "undo-beams", "undo-floor"}; !slices.Equal(s.order, want) {
			t.Errorf("built %v, want %v", s.order, want)
		}
		if s.done["well"] != 1 || s.done["floor"] != 0 || result.Open {
			t.Errorf("stands %v, open %v", s.done, result.Open)
		}
	})
}

// TestKeptOpenNothingIsRolledBack: the run is resumed with what is missing.
func TestKeptOpenNothingIsRolledBack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{errStuck}
		result := b.run(s.book(1, s.undoable("floor"), s.undoable("roof", "floor")))
		expect(t, result, runbook.Failed, "stuck")
		if !result.Open || s.done["floor"] != 1 {
			t.Errorf("open %v, stands %v", result.Open, s.done)
		}
	})
}

// TestKeptOpenARunThatChangedNothingIsClosed: there is nothing to resume.
func TestKeptOpenARunThatChangedNothingIsClosed(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		book := s.book(1, s.step("floor"))
		book.Guards = []runbook.Guard{answer("dry", runbook.No("it rains").WithOutcome(runbook.Deferred))}
		if result := b.run(book); result.Outcome != runbook.Deferred || result.Open {
			t.Errorf("ended %+v", result)
		}
	})
}

func TestFailureIsTakenBack(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.sees = func() runbook.Finding {
		if asked++; asked <= 2 { // at the start and before the first step
			return runbook.Yes("there it is")
		}
		return runbook.No("the lamp went out by itself")
	}
	result := b.run(b.book())
	expect(t, result, runbook.NothingToDo, "went out by itself")
	if b.sign || result.Open {
		t.Errorf("sign out: %v, run open: %v", b.sign, result.Open)
	}
}

// TestRollbackThatFailsParksAndIsFinishedOnResume: also when everything holds again by
// then, the run goes back and not on.
func TestRollbackThatFailsParksAndIsFinishedOnResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.faults["take-sign-in"] = []error{apierr.New(apierr.Terminal, "ladder gone")}
		b.faults["switch-off"] = []error{errStuck}
		result := b.run(b.book())
		expect(t, result, runbook.NeedsAttention,
			"step switch-off: stuck; and what step hang-sign did could not be rolled back: step take-sign-in: ladder gone")
		question := "Is what prevents the rollback mended? Then resume the run, which finishes it."
		if result.Question != question || !result.Open {
			t.Errorf("parked without a question, or closed: %+v", result)
		}
		told := b.told()
		result = b.run(b.book())
		expect(t, result, runbook.Failed, "step switch-off: stuck")
		changes := []string{"hang-sign", "switch-off", "take-sign-in", "take-sign-in"}
		if !slices.Equal(b.calls, changes) || b.sign {
			t.Errorf("changes %v, want %v", b.calls, changes)
		}
		want := []string{"run-began resumed", "rollback-began step switch-off: stuck", "step-began take-sign-in 2",
			"step-ended take-sign-in 2 done", "run-ended step switch-off: stuck; failed"}
		if !slices.Equal(*told, want) {
			t.Errorf("told %q, want %q", *told, want)
		}
		b.expectStory("opened", "evaluated start", "planned", "evaluated step hang-sign", "intent hang-sign",
			"outcome hang-sign done", "evaluated step switch-off", "intent switch-off",
			"outcome switch-off failed, never happened", "rolling-back failed", "intent take-sign-in",
			"outcome take-sign-in failed, never happened", "parked needs-attention",
			"resumed", "intent take-sign-in", "outcome take-sign-in done", "closed failed")
	})
}

// TestFinishedRollbackIsNotRepeated: what was taken back stays so.
func TestFinishedRollbackIsNotRepeated(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"], s.fails["undo-floor"] = []error{errStuck}, []error{errStuck}
		book := s.book(1, s.undoable("floor"), s.undoable("walls", "floor"), s.step("roof", "walls"))
		book.KeepOpen = false
		expect(t, b.run(book), runbook.NeedsAttention, "what step floor did could not be rolled back")
		s.done["walls"] = 1 // somebody builds them again: that is theirs
		expect(t, b.run(book), runbook.Failed, "stuck")
		want := []string{"floor", "walls", "roof", "undo-walls", "undo-floor", "undo-floor"}
		if !slices.Equal(s.order, want) || s.done["walls"] != 1 {
			t.Errorf("built %v, want %v", s.order, want)
		}
	})
}

// TestRollbackHasConditionsOfItsOwn: what a person changed meanwhile is not undone.
func TestRollbackHasConditionsOfItsOwn(t *testing.T) {
	b := newBench(t)
	b.faults["switch-off"] = []error{errStuck}
	book := b.book()
	book.Steps[0].Rollback.Preconditions = []runbook.Guard{answer("our-sign", runbook.No("it is another sign"))}
	result := b.run(book)
	expect(t, result, runbook.NeedsAttention, "could not be rolled back: our-sign does not hold: it is another sign")
	if !b.sign || !result.Open || slices.Contains(b.calls, "take-sign-in") {
		t.Errorf("sign out: %v, open %v, changes %v", b.sign, result.Open, b.calls)
	}
}

func TestUndecidableRollbackAsksItsOwnQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := b.book()
		book.Steps[0].Rollback.Observe = func(context.Context, runbook.Run) runbook.Observation {
			return runbook.Undecidable("Who took the sign?", "there are two signs")
		}
		b.faults["switch-off"] = []error{errStuck}
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "could not be rolled back: step take-sign-in: there are two signs")
		if result.Question != "Who took the sign?" || !result.Open {
			t.Errorf("asked %q, open %v", result.Question, result.Open)
		}
	})
}

// patientStore writes nothing for who has no time left, as one behind a network does.
type patientStore struct{ journal.Store }

func (s patientStore) Append(ctx context.Context, run string, seq int, line []byte) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Store.Append(ctx, run, seq, line)
}

// TestRollbackThatTakesAllItsTimeIsRecorded: that it did not end is what the next one has to know.
func TestRollbackThatTakesAllItsTimeIsRecorded(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		b.Engine.Journal = patientStore{b.Engine.Journal}
		floor := s.undoable("floor")
		floor.Rollback.Apply = func(ctx context.Context, _ runbook.Run) error { <-ctx.Done(); return context.Cause(ctx) }
		s.fails["roof"] = []error{errStuck}
		book := s.book(1, floor, s.step("roof", "floor"))
		book.KeepOpen = false
		result := b.run(book)
		expect(t, result, runbook.NeedsAttention, "what step floor did could not be rolled back")
		if result.Unrecorded || !result.Open || b.record("run-1").Parked == nil {
			t.Errorf("ended %+v", result)
		}
	})
}

// TestRunThatChangedSomethingIsNeverNothingToDo: whatever a precondition decides in the middle, what was done and can't
// be taken back is said, and the exit code is none of those that mean that all is well.
func TestRunThatChangedSomethingIsNeverNothingToDo(t *testing.T) {
	for name, outcome := range map[string]runbook.Outcome{
		"nothing to do": runbook.NothingToDo, "deferred": runbook.Deferred, "undecided": runbook.Undecided,
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				roof := s.step("roof", "floor")
				roof.Preconditions = []runbook.Guard{answer("dry", runbook.No("it rains").WithOutcome(outcome))}
				book := s.book(1, s.step("floor"), roof)
				book.KeepOpen = false
				expect(t, b.run(book), runbook.Failed, "it rains; done, or may have been, and without a rollback: floor")
				s.done["floor"], book.Steps[0].Passive = 0, true
				expect(t, b.run(book), outcome, "it rains")
			})
		})
	}
}

// TestAcceptedChangeThatFailedIsNotNothing: the request was taken, and another one pushed its operation aside.
func TestAcceptedChangeThatFailedIsNotNothing(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		ready := runbook.Yes("it is dry")
		floor := s.step("floor")
		floor.Preconditions = []runbook.Guard{{Name: "dry", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			return ready
		}}}
		floor.Observe = func(context.Context, runbook.Run) runbook.Observation { return runbook.NotStarted("not there") }
		floor.Await = func(context.Context, runbook.Run) error {
			ready = runbook.No("somebody else built it")
			return apierr.New(apierr.Conflict, "preempted")
		}
		book := s.book(1, floor)
		book.KeepOpen = false
		expect(t, b.run(book), runbook.Failed,
			"somebody else built it; done, or may have been, and without a rollback: floor")
	})
}
