package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/engine"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

var errDied = errors.New("the process died")

// dying is a journal whose process dies at its nth write: before it, or after it
// and without an answer.
type dying struct {
	journal.Store
	writes, at int
	after      bool
}

func (d *dying) Append(ctx context.Context, run string, seq int, line []byte) error {
	d.writes++
	if d.writes < d.at {
		return d.Store.Append(ctx, run, seq, line)
	}
	if d.writes == d.at && d.after {
		return errors.Join(d.Store.Append(ctx, run, seq, line), errDied)
	}
	return errDied
}

// TestCrashAnywhere: wherever the process dies, the run goes on to its end, no step
// that the record shows to be done is run again, and none runs before what it
// waits for.
func TestCrashAnywhere(t *testing.T) {
	for at, complete := 1, false; !complete; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it %v", at, after), func(t *testing.T) {
				in(t, func(t *testing.T, b *bench) {
					kept := b.journal
					mortal := &dying{Store: kept, at: at, after: after}
					b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
						return rollout.Outcome{Result: journal.Done, Outputs: map[string]rollout.Output{"size": {Value: "3"}}}
					}
					plan := b.plan("revision: '7'\n", "a", "b < a;"+lookup, "c; idempotent: true", "d < b, c")
					b.journal = mortal
					_, err := b.runner().Run(t.Context(), plan, rollout.Options{})
					complete = err == nil
					if b.journal = kept; complete {
						return
					}
					b.finish(plan)
				})
			})
		}
	}
}

// finish goes on with the run until it ends, and answers what it asks.
func (b *bench) finish(plan *rollout.Plan) {
	b.Helper()
	done := b.doneSteps()
	if len(done) == len(plan.Steps) && b.record("run-1").Closed != nil {
		return // it died after its last word
	}
	b.calls = nil
	result := b.run(context.Background(), plan, rollout.Options{})
	if result.Outcome == runbook.NeedsAttention {
		answers := map[string]engine.Answer{}
		for _, step := range []string{"g/a", "g/b", "g/c", "g/d"} {
			if strings.Contains(result.Question, step) {
				answers[step] = engine.AnswerAgain
			}
		}
		if answers["g/c"] != "" {
			b.Errorf("asked about a step that is idempotent: %s", result.Question)
		}
		var err error
		if result, err = b.runner().Resume(context.Background(), plan, result.Run,
			rollout.Options{Answers: answers}); err != nil {
			b.Fatal(err)
		}
	}
	b.expect(result, runbook.RolledOut, "all 4 steps")
	for _, name := range b.calls {
		if slices.Contains(done, name) {
			b.Errorf("%s was run again; %v", name, b.calls)
		}
	}
	if len(b.calls) > 0 && slices.Index(b.calls, "d") >= 0 && slices.Index(b.calls, "d") != len(b.calls)-1 {
		b.Errorf("ran in the order %v", b.calls)
	}
}

// doneSteps are those that any record shows to be done.
func (b *bench) doneSteps() (done []string) {
	b.Helper()
	runs, err := b.journal.Runs(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	for _, run := range runs {
		for _, step := range b.record(run).Steps() {
			if step.Finished() {
				done = append(done, strings.TrimPrefix(step.Name, "g/"))
			}
		}
	}
	return done
}
