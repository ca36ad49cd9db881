package rollout_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// observed is an action that is told what it will observe.
type observed struct {
	scripted
	sees  rollout.Outcome
	times *int
}

func (observed) Observes(step *pipeline.Step) bool { return step.Shell.Observe.Value != "" }

func (o observed) Observe(context.Context, *rollout.Attempt) rollout.Outcome {
	*o.times++
	return o.sees
}

// TestObserveCommandTellsWhatBecameOfAStep: an operator is asked only where it does not.
func TestObserveCommandTellsWhatBecameOfAStep(t *testing.T) {
	size := map[string]rollout.Output{"size": {Value: "3"}}
	says := func(result journal.ResultKind, reason string) rollout.Outcome {
		return rollout.Outcome{Result: result, Reason: reason}
	}
	for name, test := range map[string]struct {
		fields, next string
		sees         rollout.Outcome
		first        runbook.Outcome
		reason       string
		// resumed are the steps that run when the run is resumed.
		resumed []string
		ends    runbook.Outcome
	}{
		"it happened": {fields: "; observe: x", next: "b < a", sees: done(), first: runbook.RolledOut, reason: "all 2 steps"},
		"it happened, and is needed": {fields: "; observe: x", next: "b < a;" + lookup, first: runbook.RolledOut,
			sees: rollout.Outcome{Result: journal.Done, Outputs: size}, reason: "all 2 steps"},
		"it happened, and does not hand on": {fields: "; observe: x", next: "b < a;" + lookup, sees: done(),
			first: runbook.NeedsAttention, reason: `does not hand on "size", which step g/b requires`,
			ends: runbook.NeedsAttention},
		"it did not happen": {fields: "; observe: x", next: "b < a", sees: says(journal.Failure, "exit code 10"),
			first: runbook.Failed, reason: "step g/a: cut off", resumed: []string{"a", "b"}, ends: runbook.RolledOut},
		"it does not tell": {fields: "; observe: x", next: "b < a", sees: says(journal.Unknown, "exit code 1: fog"),
			first: runbook.NeedsAttention, reason: "its observe command does not tell: exit code 1: fog",
			ends: runbook.NeedsAttention},
		"it does not tell, idempotent": {fields: "; observe: x | idempotent: true", next: "b < a",
			sees: says(journal.Unknown, "fog"), first: runbook.Failed, reason: "cut off", resumed: []string{"a", "b"},
			ends: runbook.RolledOut},
		"it happened, idempotent": {fields: "; observe: x | idempotent: true", next: "b < a", sees: done(),
			first: runbook.RolledOut, reason: "all 2 steps"},
		"there is none": {next: "b < a", sees: done(), first: runbook.NeedsAttention, reason: "cut off",
			ends: runbook.NeedsAttention},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
					time.Sleep(2 * time.Minute) // no request of it could be on its way any longer
					return says(journal.Unknown, "cut off")
				}
				times := 0
				runner := b.runner()
				runner.Actions["Shell"] = observed{scripted{b}, test.sees, &times}
				plan := b.plan("", "a"+test.fields, test.next)
				first, err := runner.Run(t.Context(), plan, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				b.expect(first, test.first, test.reason)
				if (times > 0) != (test.fields != "") {
					t.Errorf("observed %d times", times)
				}
				for _, result := range b.outcomesOf(first.Run) {
					if result.Refused {
						t.Errorf("refused: %+v", result)
					}
				}
				if test.ends == "" {
					return
				}
				delete(b.does, "a")
				b.calls = nil
				result, err := runner.Resume(t.Context(), plan, first.Run, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if b.expect(result, test.ends, ""); !slices.Equal(b.calls, test.resumed) {
					t.Errorf("ran %v", b.calls)
				}
				if asked := strings.Contains(result.Question, "Has g/a done its work?"); asked != (len(test.resumed) == 0) {
					t.Errorf("asked %q", result.Question)
				}
			})
		})
	}
}

// TestObserveCommandDoesNotSeeAnotherMachine: the step may still be at work there, and do
// its work after the command has run.
func TestObserveCommandDoesNotSeeAnotherMachine(t *testing.T) {
	for name, test := range map[string]struct {
		sees journal.ResultKind
		ends runbook.Outcome
	}{
		"it did not happen": {journal.Failure, runbook.NeedsAttention},
		"it happened":       {journal.Done, runbook.RolledOut},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				times := 0
				runner := b.runner()
				runner.Actions["Shell"] = observed{scripted{b}, rollout.Outcome{Result: journal.Unknown}, &times}
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
					return rollout.Outcome{Result: journal.Unknown}
				}
				plan := b.plan("", "a; observe: x")
				first, err := runner.Run(t.Context(), plan, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				runner.Holder.Host = "runner"
				runner.Actions["Shell"] = observed{scripted{b}, rollout.Outcome{Result: test.sees}, &times}
				b.calls = nil
				result, err := runner.Resume(t.Context(), plan, first.Run, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if b.expect(result, test.ends, ""); len(b.calls) > 0 {
					t.Errorf("ran %v", b.calls)
				}
				if asked := test.ends == runbook.NeedsAttention; asked != strings.Contains(result.Reason, "still runs on laptop") {
					t.Errorf("the reason is %q", result.Reason)
				}
			})
		})
	}
}

// TestObserveCommandThatCouldNotRunTellsNothing: without its log it never ran, which is no word on the step's work.
func TestObserveCommandThatCouldNotRunTellsNothing(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			time.Sleep(2 * time.Minute)
			return rollout.Outcome{Result: journal.Unknown, Reason: "cut off"}
		}
		times, opened := 0, 0
		runner := b.runner()
		runner.Actions["Shell"] = observed{scripted{b}, done(), &times}
		open := runner.OpenLog
		runner.OpenLog = func(run string, step pipeline.StepID, attempt int) (rollout.Log, error) {
			if opened++; opened > 1 {
				return nil, errors.New("permission denied")
			}
			return open(run, step, attempt)
		}
		result, err := runner.Run(t.Context(), b.plan("", "a; observe: x"), rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.NeedsAttention, "its log can't be written: permission denied")
		if times > 0 || len(b.calls) != 1 {
			t.Errorf("observed %d times, ran %v", times, b.calls)
		}
	})
}

// TestStepThatTakesAnOutputIsObservedWhenItsRunIsResumed: by a process that knows nothing yet of what the steps before
// handed on.
func TestStepThatTakesAnOutputIsObservedWhenItsRunIsResumed(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			return rollout.Outcome{Result: journal.Done, Outputs: map[string]rollout.Output{"size": {Value: "3"}}}
		}
		b.does["b"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			time.Sleep(2 * time.Minute)
			return rollout.Outcome{Result: journal.Unknown, Reason: "cut off"}
		}
		times := 0
		plan := b.plan("", "a", "b < a; observe: x | "+lookup)
		runner := b.runner()
		runner.Actions["Shell"] = observed{scripted{b}, rollout.Outcome{Result: journal.Unknown, Reason: "fog"}, &times}
		first, err := runner.Run(t.Context(), plan, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(first, runbook.NeedsAttention, "fog")
		again := b.runner()
		again.Actions["Shell"] = observed{scripted{b}, done(), &times}
		result, err := again.Resume(t.Context(), plan, first.Run, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.RolledOut, "all 2 steps")
	})
}

// TestWhatCameToNothingIsSaidOnce, however often the runner died while the step was at work.
func TestWhatCameToNothingIsSaidOnce(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		kept, plan, deaths := b.journal, b.plan("", "a; idempotent: true"), 0
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			if mortal, is := b.journal.(*dying); is {
				mortal.at, deaths = mortal.writes+1, deaths+1 // before the outcome is written
			}
			return done()
		}
		for range 4 {
			b.journal = &dying{Store: kept, at: 1000}
			_, _ = b.runner().Run(t.Context(), plan, rollout.Options{}) // the process died: nobody hears its error
		}
		b.journal = kept
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "its only step")
		outcomes := b.outcomesOf("run-1")
		if deaths != 4 || len(outcomes) < deaths {
			t.Fatalf("it died %d times; the outcomes are %+v", deaths, outcomes)
		}
		for _, result := range outcomes {
			for _, words := range []string{"it did not happen", "it can be run again"} {
				if strings.Count(result.Reason, words) > 1 {
					t.Errorf("the reason is %q", result.Reason)
				}
			}
		}
	})
}
