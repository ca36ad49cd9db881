package rollout_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// leaving is an action of which an attempt that is cut off leaves something running.
type leaving struct {
	scripted
	left string
}

func (l leaving) Clear(context.Context, string, pipeline.StepID) (string, error) { return l.left, nil }

// TestWhatIsLeftRunning is ended before anybody is asked, and it is said where that
// can't be seen.
func TestWhatIsLeftRunning(t *testing.T) {
	for name, test := range map[string]struct {
		left, host string
		warnings   []string
	}{
		"nothing": {"", "laptop", nil},
		"something": {"42 (sleep 600)", "laptop",
			[]string{"step g/a had left running, and these were ended: 42 (sleep 600)"}},
		"on another machine": {"", "runner",
			[]string{"step g/a was at work on laptop, where it can't be seen from here whether something of it still runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				b.does["a"] = func(context.Context, *rollout.Attempt) rollout.Outcome {
					return rollout.Outcome{Result: journal.Unknown, Reason: "it was cut off: killed"}
				}
				plan := b.plan("", "a")
				first := b.run(t.Context(), plan, rollout.Options{})
				runner := b.runner()
				runner.Actions["Shell"] = leaving{scripted{b}, test.left}
				runner.Holder.Host = test.host
				result, err := runner.Resume(t.Context(), plan, first.Run, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				b.expect(result, runbook.NeedsAttention, "")
				if !slices.Equal(result.Warnings, test.warnings) {
					t.Errorf("warned of %q, want %q", result.Warnings, test.warnings)
				}
			})
		})
	}
}

// TestPlansThatNobodyValidated are refused where they can't be walked.
func TestPlansThatNobodyValidated(t *testing.T) {
	for name, test := range map[string]struct{ waits, says string }{
		"a ring":                   {"a", "wait for each other in a ring; salve pipeline validate p.yaml shows it"},
		"a step that there is not": {"b", "step g/a waits for g/b, which the pipeline does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			file, found := pipeline.Parse("p.yaml", []byte(`serviceGroup: Example.Service
rolloutName: Example
resourceGroups:
- name: g
  resourceGroup: rg
  subscription: sub
  steps:
  - {name: a, action: Shell, command: x, shellIdentity: {value: none}, dependsOn: [{resourceGroup: g, step: `+test.waits+`}]}
`))
			if len(found) > 0 {
				t.Fatal(found)
			}
			if _, err := rollout.NewPlan(file, rollout.Inputs{}); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}
