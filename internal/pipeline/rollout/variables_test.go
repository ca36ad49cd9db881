package rollout_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// TestRunGoesOnWithItsOpenRun: run after run is as good as resume, and another
// content closes the run before.

const lookup = `variables: [{name: SIZE, input: {resourceGroup: g, step: a, name: size}}]`

func TestOutputsAreHandedOnAndKept(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		plan := b.plan("", "a", "b < a;"+lookup)
		b.does["a"] = func(_ context.Context, attempt *rollout.Attempt) rollout.Outcome {
			if !slices.Equal(attempt.Wanted, []string{"size"}) {
				t.Errorf("others take %v", attempt.Wanted)
			}
			return rollout.Outcome{Result: journal.Done,
				Outputs: map[string]rollout.Output{"size": {Value: "12345678901234567890"}}}
		}
		var got []string
		b.does["b"] = func(_ context.Context, attempt *rollout.Attempt) rollout.Outcome {
			got = append(got, attempt.Variables[0].Name+"="+attempt.Variables[0].Text())
			return rollout.Outcome{Result: []journal.ResultKind{journal.Failure, journal.Done}[len(got)-1]}
		}
		b.run(t.Context(), plan, rollout.Options{})
		b.expect(b.run(t.Context(), plan, rollout.Options{}), runbook.RolledOut, "")
		if want := "SIZE=12345678901234567890"; !slices.Equal(got, []string{want, want}) {
			t.Errorf("given %v", got)
		}
	})
}

func TestMissingOutputFailsTheStepThatNeedsIt(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome { return done() }
		result := b.run(t.Context(), b.plan("", "a", "b < a;"+lookup), rollout.Options{})
		b.expect(result, runbook.Failed, `step g/b needs the output "size" of step g/a, which gave none of that name`)
	})
}

// TestSecrets: a secret is handed on, never written down, and made again on
// resume where that does no harm.

func TestSecrets(t *testing.T) {
	for name, idempotent := range map[string]bool{"made again": true, "lost": false} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				plan := b.plan("", "z", fmt.Sprintf("a < z; idempotent: %v", idempotent), "b < a;"+lookup)
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
					return rollout.Outcome{Result: journal.Done,
						Outputs: map[string]rollout.Output{"size": {Value: "hush-hush", Secret: true}}}
				}
				works := false
				b.does["b"] = func(_ context.Context, attempt *rollout.Attempt) rollout.Outcome {
					if attempt.Variables[0].Text() != "hush-hush" || !attempt.Variables[0].Secret {
						t.Errorf("given %+v", attempt.Variables)
					}
					if !works {
						return rollout.Outcome{Result: journal.Failure, Reason: "no, says hush-hush"}
					}
					return done()
				}
				first := b.run(t.Context(), plan, rollout.Options{})
				works, b.calls = true, nil
				result := b.run(t.Context(), plan, rollout.Options{})
				if idempotent {
					b.expect(result, runbook.RolledOut, "")
					if !slices.Equal(b.calls, []string{"a", "b"}) {
						t.Errorf("ran %v", b.calls)
					}
				} else {
					b.expect(result, runbook.NeedsAttention, `needs the secret output "size" of step g/a, which is not kept`)
				}
				lines, err := b.journal.Read(t.Context(), first.Run)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range lines {
					if strings.Contains(string(line), "hush") {
						t.Errorf("in the record: %s", line)
					}
				}
			})
		})
	}
}
