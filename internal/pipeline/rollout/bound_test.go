package rollout_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/runbook"
)

// TestPlanIsThatOfTheRun which is bound to it: it executes that or nothing.
func TestPlanIsThatOfTheRun(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		previewed, err := b.runner().Plan(t.Context(), b.plan("", "a", "b < a"), rollout.Options{})
		if err != nil || previewed.Plan == nil || len(b.calls) > 0 {
			t.Fatalf("%+v, %v", previewed, err)
		}
		bound := rollout.Options{Plan: &engine.ExpectedPlan{Digest: previewed.Plan.Digest, Plan: previewed.Plan}}
		b.skip("Shell")
		b.expect(b.run(t.Context(), b.plan("", "a", "b < a"), bound), runbook.Failed,
			"step g/a.changes: was Shell: line 11 of pipeline.yaml, now Shell: line 11 of pipeline.yaml "+
				"(skipped by --skip-actions)")
		if b.changed = nil; len(b.calls) > 0 {
			t.Errorf("ran %v", b.calls)
		}
		b.expect(b.run(t.Context(), b.plan("", "a", "b < a"), bound), runbook.RolledOut, "all 2 steps")
	})
}

// TestPlanOfWhatCanNotBeRun is refused as a run of it is.
func TestPlanOfWhatCanNotBeRun(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		runner, plan := b.runner(), b.plan("", "a")
		runner.Actions = nil
		_, want := runner.Run(t.Context(), plan, rollout.Options{})
		_, err := runner.Plan(t.Context(), plan, rollout.Options{})
		if invalid := new(*engine.InvalidError); !errors.As(err, invalid) || err.Error() != want.Error() {
			t.Errorf("got %v, want %v", err, want)
		}
	})
}

// TestContentThatHasMoved is told with what was found, and what can't be read is not taken for unmoved.
func TestContentThatHasMoved(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		runner, plan, unread := b.runner(), b.plan("", "a"), errors.New("fog")
		plan.Content = "as planned"
		for _, test := range []struct {
			found string
			err   error
			moved bool
			want  runbook.Outcome
		}{
			{"as planned", nil, false, runbook.RolledOut}, {"another", nil, true, runbook.Failed},
			{"", unread, false, runbook.Undecided},
		} {
			runner.Content = func(context.Context) (string, error) { return test.found, test.err }
			if moved, err := runner.Moved(t.Context(), plan); moved != test.moved || !errors.Is(err, test.err) {
				t.Errorf("%q: moved %v, %v", test.found, moved, err)
			}
			result, err := runner.Run(t.Context(), plan, rollout.Options{})
			if err != nil || result.Outcome != test.want {
				t.Errorf("%q: %s: %s, %v", test.found, result.Outcome, result.Reason, err)
			}
			if test.err != nil {
				continue
			}
			i := slices.IndexFunc(result.Findings, func(f runbook.Finding) bool { return f.Guard == "content-unmoved" })
			if i < 0 || len(result.Findings[i].Evidence) != 1 ||
				!strings.Contains(string(result.Findings[i].Evidence[0].Value), test.found) {
				t.Errorf("%q: found %+v", test.found, result.Findings)
			}
		}
	})
}
