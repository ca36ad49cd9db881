package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"salve/runbook"
)

// TestStaleStepHoldsBackWhatNeedsIt: a reopened step is done before those that wait for it
// begin, also where a place is free.
func TestStaleStepHoldsBackWhatNeedsIt(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{errStuck}
		again := func(name string, after ...string) runbook.Step {
			step := s.step(name, after...)
			step.Observe = func(context.Context, runbook.Run) runbook.Observation { return runbook.NotStarted("not kept") }
			return step
		}
		wood, key := again("saw-wood"), again("cut-key", "saw-wood")
		key.Stale = func(run runbook.Run) (bool, error) { return !run.Step("roof").Done, nil }
		wood.Stale = func(run runbook.Run) (bool, error) { return !run.Step("cut-key").Done, nil }
		book := s.book(3, key, wood, s.step("roof", "cut-key", "saw-wood"))
		expect(t, b.run(book), runbook.Failed, "stuck")
		s.order = nil
		expect(t, b.run(book), runbook.RolledOut, "all 3 steps are done")
		if want := []string{"saw-wood", "cut-key", "roof"}; !slices.Equal(s.order, want) {
			t.Errorf("built in the order %v, want %v", s.order, want)
		}
	})
}

// TestStaleIsAskedOnceOfEachStep: of steps that need each other in a row too, the last of
// them first.
func TestStaleIsAskedOnceOfEachStep(t *testing.T) {
	const count = 20
	for name, lost := range map[string]bool{"nothing is stale": false, "all are stale": true} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				s.fails["roof"] = []error{errStuck}
				asked := 0
				var steps []runbook.Step
				for i := range count {
					floor, next := s.step(fmt.Sprint("floor-", i)), fmt.Sprint("floor-", i+1)
					if i > 0 {
						floor.After = []string{fmt.Sprint("floor-", i-1)}
					}
					if i == count-1 {
						next = "roof"
					}
					if lost {
						floor.Observe = func(context.Context, runbook.Run) runbook.Observation { return runbook.NotStarted("not kept") }
					}
					floor.Stale = func(run runbook.Run) (bool, error) {
						asked++
						return lost && !run.Step(next).Done, nil
					}
					steps = append(steps, floor)
				}
				book := s.book(1, append(steps, s.step("roof", fmt.Sprint("floor-", count-1)))...)
				b.run(book)
				s.order, asked = nil, 0
				expect(t, b.run(book), runbook.RolledOut, "all 21 steps are done")
				if again := len(s.order) > 1; asked != count || again != lost {
					t.Errorf("asked %d times of %d steps, built %v", asked, count, s.order)
				}
			})
		})
	}
}

func TestStaleStepThatCannotBeDoneAgainIsAnOperatorsMatter(t *testing.T) {
	for name, stale := range map[string]func(runbook.Run) (bool, error){
		"by its word": func(runbook.Run) (bool, error) { return false, errors.New("the key is lost") },
		"in panic":    func(runbook.Run) (bool, error) { panic("the key is lost") },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
				s.fails["roof"] = []error{errStuck}
				key := s.step("cut-key")
				book := s.book(1, key, s.step("roof", "cut-key"))
				b.run(book)
				book.Steps[0].Stale = stale
				s.order = nil
				result := b.run(book)
				expect(t, result, runbook.NeedsAttention, "the key is lost")
				if !result.Open || len(s.order) > 0 {
					t.Errorf("open %v, built %v", result.Open, s.order)
				}
			})
		})
	}
}
