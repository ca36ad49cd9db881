package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"salve/engine"
	"salve/internal/apierr"
	"salve/runbook"
)

// TestPlanOfAnOpenRunHasWhatIsMadeAgain: steps whose results were not kept. One that can't be made again is for an
// operator.
func TestPlanOfAnOpenRunHasWhatIsMadeAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, b *bench, s *site) {
		s.fails["roof"] = []error{errStuck}
		book := s.book(1, s.step("cut-key"), s.step("walls"), s.step("roof", "cut-key", "walls"))
		b.run(book)
		if left := planned(b.preview(book)); !slices.Equal(left, []string{"roof"}) {
			t.Errorf("everything was kept, and the plan is %v", left)
		}
		book.Steps[0].Stale = func(run runbook.Run) (bool, error) { return !run.Step("roof").Done, nil }
		if left := planned(b.preview(book)); !slices.Equal(left, []string{"cut-key", "roof"}) {
			t.Errorf("the key was not kept, and the plan is %v", left)
		}
		book.Steps[0].Stale = func(runbook.Run) (bool, error) { return false, errors.New("the key is lost") }
		if result := b.preview(book); result.Outcome != runbook.NeedsAttention || result.Reason != "the key is lost" {
			t.Errorf("the key is lost: %+v", result)
		}
	})
}

// TestNobodyIsAskedAboutARunThatMayNotGoOn: a guard that is asked whenever it is resumed doesn't hold.
func TestNobodyIsAskedAboutARunThatMayNotGoOn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *bench, s *site) {
		b, people, options := gated(t)
		s.fails["roof"] = []error{apierr.New(apierr.Terminal, "rain")}
		dry := runbook.Yes("the sun shines")
		book := s.book(1, s.step("walls"), s.step("roof", "walls"))
		book.Guards = append(book.Guards, runbook.Guard{Name: "dry", OnResume: true,
			Evaluate: func(context.Context, runbook.Run) runbook.Finding { return dry }})
		people.answer = saying(asIs)
		expect(t, b.runWith(book, options), runbook.Failed, "rain")
		dry = runbook.No("it rains")
		result, err := b.Resume(context.Background(), book, "run-1", engine.Options{})
		if err != nil || result.Outcome == runbook.RolledOut || len(people.asked) != 1 {
			t.Errorf("%+v, %v, asked %d times", result, err, len(people.asked))
		}
	})
}
