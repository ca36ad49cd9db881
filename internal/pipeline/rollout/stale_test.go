package rollout

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/pipeline"
	"salve/runbook"
)

// countingRun is a run of which no step is done; it counts what is asked of it.
type countingRun struct {
	runbook.Run
	asked int
}

func (r *countingRun) Recall(string, any) (bool, error) { return false, nil }

func (r *countingRun) Step(string) runbook.StepStatus {
	r.asked++
	return runbook.StepStatus{}
}

// TestStaleAsksOnlyOfStepsThatTakeWhatIsLost: of a long pipeline that is resumed all
// others are not asked.
func TestStaleAsksOnlyOfStepsThatTakeWhatIsLost(t *testing.T) {
	var text strings.Builder
	text.WriteString("$schema: pipeline.schema.v1\nserviceGroup: Example.Service\nrolloutName: Example\n" +
		"resourceGroups:\n- name: g\n  resourceGroup: rg\n  subscription: sub\n  steps:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "  - {name: s%d, action: Shell, command: x, shellIdentity: {value: none}", i)
		if i == 99 {
			text.WriteString(", variables: [{name: KEY, input: {resourceGroup: g, step: s0, name: key}}]")
		}
		text.WriteString(", idempotent: true}\n")
	}
	file, found := pipeline.Parse("pipeline.yaml", []byte(text.String()))
	if len(found) > 0 {
		t.Fatal(found)
	}
	plan, err := NewPlan(file, Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	w, run := newWork(&Runner{}, plan), &countingRun{}
	first := plan.Steps[0].ID()
	w.outputs[first], w.recalled[first] = map[string]Output{"key": {Secret: true}}, true
	for i, step := range plan.Steps {
		stale, err := w.stale(run, i)
		if err != nil || stale != (step.ID() == first) {
			t.Errorf("%s: %v, %v", step.ID(), stale, err)
		}
	}
	if run.asked != 1 {
		t.Errorf("asked %d times", run.asked)
	}
}
