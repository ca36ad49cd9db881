package rollout_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

func TestResumeRunsWhatWasNotDone(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a", "b < a", "c < b")
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			return rollout.Outcome{Result: journal.Done, Outputs: map[string]rollout.Output{"size": {Value: "3"}}}
		}
		b.does["b"] = fails("no")
		first := b.run(t.Context(), plan, rollout.Options{})
		b.expect(first, runbook.Failed, "no")
		delete(b.does, "b")
		b.calls = nil
		result, err := b.runner().Resume(t.Context(), plan, first.Run, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(result, runbook.RolledOut, "all 3")
		if !slices.Equal(b.calls, []string{"b", "c"}) {
			t.Errorf("ran %v", b.calls)
		}
		if _, err := b.runner().Resume(t.Context(), plan, first.Run, rollout.Options{}); err == nil ||
			!strings.Contains(err.Error(), "is closed") {
			t.Errorf("resumed once more: %v", err)
		}
	})
}

func TestRunGoesOnWithItsOpenRun(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["b"] = fails("no")
		first := b.run(t.Context(), b.plan("", "a", "b < a"), rollout.Options{})
		again := b.run(t.Context(), b.plan("", "a", "b < a"), rollout.Options{})
		if again.Run != first.Run || len(b.calls) != 3 {
			t.Errorf("run %s after %s, %v", again.Run, first.Run, b.calls)
		}
		other := b.run(t.Context(), b.plan("", "a", "c < a"), rollout.Options{})
		b.expect(other, runbook.RolledOut, "")
		closed := b.record(first.Run).Closed
		if closed == nil || !strings.Contains(closed.Reason, "superseded by run "+other.Run) {
			t.Errorf("closed %+v", closed)
		}
	})
}

func TestCutOff(t *testing.T) {
	for name, test := range map[string]struct {
		fields string
		answer engine.Answer
		calls  []string
		ends   runbook.Outcome
		refuse string
	}{
		"done":            {"", engine.AnswerDone, []string{"b"}, runbook.RolledOut, ""},
		"again":           {"", engine.AnswerAgain, []string{"a", "b"}, runbook.RolledOut, ""},
		"no answer":       {"", "", nil, runbook.NeedsAttention, ""},
		"idempotent":      {"; idempotent: true", "", []string{"a", "b"}, runbook.RolledOut, ""},
		"nobody asked it": {"; idempotent: true", engine.AnswerDone, nil, "", "no question is open about step"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				plan := b.plan("", "a"+test.fields, "b < a")
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
					return rollout.Outcome{Result: journal.Unknown, Reason: "it was cut off: killed"}
				}
				first := b.run(t.Context(), plan, rollout.Options{})
				if test.fields == "" {
					b.expect(first, runbook.NeedsAttention, `step g/a: it was cut off: killed`)
					if want := "Has g/a done its work? Look, and answer by salve resume run-1 --answer g/a=done, or " +
						"=again"; !strings.Contains(first.Question, want) {
						t.Errorf("asked %q", first.Question)
					}
				}
				b.does["a"], b.calls = nil, nil
				options := rollout.Options{}
				if test.answer != "" {
					options.Answers = map[string]engine.Answer{"g/a": test.answer}
				}
				before := len(b.record(first.Run).Entries)
				result, err := b.runner().Resume(t.Context(), plan, first.Run, options)
				if test.refuse != "" {
					if err == nil || !strings.Contains(err.Error(), test.refuse) || result.Run != "" {
						t.Errorf("got %v, %+v", err, result)
					}
					if written := len(b.record(first.Run).Entries) - before; written > 0 {
						t.Errorf("%d entries were written", written)
					}
					return
				}
				if err != nil || result.Outcome != test.ends || !slices.Equal(b.calls, test.calls) {
					t.Errorf("%v: %+v, ran %v", err, result, b.calls)
				}
			})
		})
	}
}

// TestAnotherActionDoesNotFindOutWhatBecameOfAStep: a step of the same name that looks by itself looks after another
// thing. The open run is kept, and an operator is asked.
func TestAnotherActionDoesNotFindOutWhatBecameOfAStep(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			return rollout.Outcome{Result: journal.Unknown, Reason: "it was cut off: killed"}
		}
		first := b.run(t.Context(), b.plan("", "a"), rollout.Options{})
		b.calls = nil
		soak := b.plan("", "z", `a; action: Soak | since: {resourceGroup: g, step: z} | duration: 1h`)
		_, err := b.runner().Run(t.Context(), soak, rollout.Options{})
		var refused *engine.InvalidError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "what became of its step g/a is not known") {
			t.Errorf("got %v", err)
		}
		if b.record(first.Run).Closed != nil || len(b.calls) > 0 {
			t.Errorf("the open run was closed: %+v, ran %v", b.record(first.Run).Closed, b.calls)
		}
	})
}

func TestDoneNeedsItsOutputs(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a", "b < a;"+lookup)
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
			return rollout.Outcome{Result: journal.Unknown}
		}
		first := b.run(t.Context(), plan, rollout.Options{})
		_, err := b.runner().Resume(t.Context(), plan, first.Run,
			rollout.Options{Answers: map[string]engine.Answer{"g/a": engine.AnswerDone}})
		if err == nil || !strings.Contains(err.Error(),
			`step g/b requires the output "size" of g/a, which is not known: answer g/a=again`) {
			t.Errorf("got %v", err)
		}
	})
}

func TestInterruptLetsRunningStepsStop(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(90*time.Second, func() { interrupt(engine.ErrInterrupted) })
		b.does["b"] = func(ctx context.Context, _ *rollout.Attempt) rollout.Outcome {
			<-ctx.Done()
			time.Sleep(5 * time.Second) // it tidies up, and says itself that it failed
			return rollout.Outcome{Result: journal.Failure, Reason: "exit code 1"}
		}
		plan := b.plan("", "a", "b < a", "c < a", "d < c")
		result := b.run(ctx, plan, rollout.Options{})
		b.expect(result, runbook.NeedsAttention, "interrupted; 1 of 4 steps are done; not done: g/b, g/c; not begun: g/d")
		if !result.Open || !strings.Contains(result.Question, "Has g/c done its work?") {
			t.Errorf("open %v, question %q", result.Open, result.Question)
		}
		delete(b.does, "b")
		resumed, err := b.runner().Resume(t.Context(), plan, result.Run,
			rollout.Options{Answers: map[string]engine.Answer{"g/c": engine.AnswerAgain}})
		if err != nil {
			t.Fatal(err)
		}
		b.expect(resumed, runbook.RolledOut, "")
	})
}

func TestInterruptWhileItWaitsToTryAgain(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		ctx, interrupt := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { interrupt(engine.ErrInterrupted) })
		b.does["a"] = fails("flaky")
		result := b.run(ctx,
			b.plan("", "a; automatedRetry: {errorContainsAny: [flaky], maximumRetryCount: 2, durationBetweenRetries: 5m}"),
			rollout.Options{})
		b.expect(result, runbook.NeedsAttention, "interrupted; 0 of 1 steps are done; not done: g/a")
	})
}
