package engine_test

import (
	"context"
	"slices"
	"testing"

	"salve/engine"
	"salve/internal/apierr"
	"salve/runbook"
)

// TestStepThatIsNotInTheAgreedPlan does not begin, when the world makes it necessary after the plan was agreed to.
func TestStepThatIsNotInTheAgreedPlan(t *testing.T) {
	for name, row := range map[string]struct {
		story func(t *testing.T, b *bench, people *box, options engine.Options) engine.Result
		want  string
		never string
	}{
		"one whose result is gone": {func(t *testing.T, b *bench, people *box, options engine.Options) engine.Result {
			s, agreed := newSite(), false
			s.fails["roof"] = []error{apierr.New(apierr.Terminal, "rain")}
			key := s.step("cut-key")
			key.Stale = func(runbook.Run) (bool, error) { return agreed, nil }
			key.Observe = func(context.Context, runbook.Run) runbook.Observation { return runbook.NotStarted("not kept") }
			key.Apply = func(context.Context, runbook.Run) error { b.calls = append(b.calls, "cut-key"); return nil }
			book := s.book(1, key, s.step("roof", "cut-key"))
			people.answer = saying(asIs)
			expect(t, b.runWith(book, options), runbook.Failed, "rain")
			b.calls = nil
			b.Watch = func(event engine.Event) { agreed = agreed || event.Kind == engine.ApprovalUsed }
			people.answer = saying(asIs)
			result, err := b.Resume(context.Background(), book, "run-1", engine.Options{})
			if err != nil || !agreed {
				t.Fatalf("%+v, %v, agreed %v", result, err, agreed)
			}
			return result
		}, "step cut-key is not in the plan that was agreed to", "cut-key"},
		"one of the preflight": {func(_ *testing.T, b *bench, people *box, options engine.Options) engine.Result {
			ladder, dust := true, false
			book := b.untidy(&ladder)
			away := book.Preflight[0].Apply
			book.Preflight[0].Apply = func(ctx context.Context, run runbook.Run) error {
				dust = true
				return away(ctx, run)
			}
			sweep := b.step("sweep", func() bool { return !dust }, func() { dust = false })
			sweep.Guards = nil
			book.Preflight = append(book.Preflight, sweep)
			people.answer = saying(asIs)
			return b.runWith(book, options)
		}, "step sweep is not in the plan that was agreed to", "sweep"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, _ *bench, _ *site) {
				b, people, options := gated(t)
				expect(t, row.story(t, b, people, options), runbook.Failed, row.want)
				if slices.Contains(b.calls, row.never) {
					t.Errorf("changes %v", b.calls)
				}
			})
		})
	}
}

// TestNobodyIsAskedAboutAStepThatMayNotBegin: its guards don't hold when the run is resumed.
func TestNobodyIsAskedAboutAStepThatMayNotBegin(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *bench, s *site) {
		b, people, options := gated(t)
		s.fails["roof"] = []error{apierr.New(apierr.Terminal, "rain")}
		roof, dry := s.step("roof", "walls"), runbook.Yes("the sun shines")
		roof.Preconditions = []runbook.Guard{{Name: "dry", Evaluate: func(context.Context, runbook.Run) runbook.Finding {
			return dry
		}}}
		book := s.book(1, s.step("walls"), roof)
		people.answer = saying(asIs)
		expect(t, b.runWith(book, options), runbook.Failed, "rain")
		dry = runbook.No("it rains")
		result, err := b.Resume(context.Background(), book, "run-1", engine.Options{})
		if err != nil || result.Outcome == runbook.RolledOut || len(people.asked) != 1 {
			t.Errorf("%+v, %v, asked %d times", result, err, len(people.asked))
		}
	})
}
