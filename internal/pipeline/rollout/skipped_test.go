package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

const soakAfterA = `soak; action: Soak | since: {resourceGroup: g, step: a} | duration: 4h`

// skip has the next plans leave the steps of some actions out.
func (b *bench) skip(actions ...string) {
	b.changed = func(inputs *rollout.Inputs) { inputs.Skip = actions }
}

// took is how long a run lasts.
func (b *bench) took(plan *rollout.Plan, outcome runbook.Outcome, reason string) (time.Duration, engine.Result) {
	b.Helper()
	began := time.Now()
	result := b.run(b.Context(), plan, rollout.Options{})
	b.expect(result, outcome, reason)
	return time.Since(began), result
}

func TestLeftOutIsNotDone(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.skip("Soak")
		_, result := b.took(b.plan("", "a", soakAfterA, "b < soak"), runbook.RolledOut,
			"2 of 3 steps are done, g/soak was skipped")
		if step := b.record(result.Run).Step("g/soak"); step.Finished() || step.Last.Result != journal.Skipped ||
			step.Attempts > 0 {
			t.Errorf("in the record it is %+v", step)
		}
		if !slices.Equal(b.calls, []string{"a", "b"}) {
			t.Errorf("ran %v", b.calls)
		}
	})
}

// TestSkippingEndsWithItsFlag: what was skipped is run by whoever goes on without
// the flag, and not before.
func TestSkippingEndsWithItsFlag(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		steps := []string{"a", soakAfterA, "b < soak"}
		b.does["b"] = fails("no")
		b.skip("Soak")
		_, first := b.took(b.plan("", steps...), runbook.Failed,
			`step g/b: no; 1 of 3 steps are done, g/soak was skipped; not done: g/b`)
		_, again := b.took(b.plan("", steps...), runbook.Failed, "1 of 3 steps are done, g/soak was skipped")
		outcomes := 0
		for _, entry := range b.record(first.Run).Entries {
			if entry.Kind == journal.Outcome && entry.Step == "g/soak" {
				outcomes++
			}
		}
		if again.Run != first.Run || outcomes != 1 {
			t.Errorf("run %s after %s; left out %d times", again.Run, first.Run, outcomes)
		}
		b.changed = nil
		plan := b.plan("", steps...)
		if lasted, _ := b.took(plan, runbook.Failed, "2 of 3 steps are done; not done: g/b"); lasted < 3*time.Hour {
			t.Errorf("it soaked for %s", lasted)
		}
		if inputs, err := rollout.InputsOf(b.record(first.Run).Header); err != nil || len(inputs.Skip) > 0 {
			t.Errorf("a resume would leave out %v: %v", inputs.Skip, err)
		}
		delete(b.does, "b")
		b.took(plan, runbook.RolledOut, "all 3 steps are done")
	})
}

// TestSoakNeedsItsStepDone: a step that was only left out has no time to count
// from, in this run and in later ones of the revision.
func TestSoakNeedsItsStepDone(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		const revision = "revision: '7'\n"
		b.skip("Shell")
		lasted, first := b.took(b.plan(revision, "a", soakAfterA), runbook.Failed,
			`step g/soak: it waits for 4h0m0s after g/a was done, which it never was for this revision; 0 of 2 steps are done, g/a was skipped; not done: g/soak`)
		if lasted > 0 {
			t.Errorf("it waited %s", lasted)
		}
		b.changed = func(inputs *rollout.Inputs) { inputs.Digest = "other" }
		lasted, second := b.took(b.plan(revision, "a", soakAfterA), runbook.RolledOut, "all 2 steps are done")
		if lasted != 4*time.Hour+time.Minute || second.Run == first.Run {
			t.Errorf("run %s after %s took %s", second.Run, first.Run, lasted)
		}
	})
}

func TestWhatWasLeftOutElsewhereIsNotReliedOn(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.skip("Shell")
		b.took(b.plan("", "a"), runbook.NothingToDo, "every step was skipped")
		b.changed = nil
		_, result := b.took(b.plan("", "b; externalDependsOn: [{serviceGroup: Example.Service, resourceGroup: g, step: a}]"),
			runbook.RolledOut, "its only step is done")
		if !slices.ContainsFunc(result.Warnings,
			func(text string) bool { return strings.Contains(text, "does not show to be done") }) {
			t.Errorf("warned of %q", result.Warnings)
		}
	})
}
