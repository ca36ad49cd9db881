package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// TestManySteps: of more steps than fit a terminal those are drawn that need an
// eye, and the others are counted.
func TestManySteps(t *testing.T) {
	picture, plan := &picture{title: "rollout"}, &runbook.Plan{}
	for i := range 200 {
		plan.Steps = append(plan.Steps, runbook.PlannedStep{Name: fmt.Sprintf("g/step-%d", i)})
	}
	picture.take(engine.Event{Kind: engine.PlanMade, Plan: plan})
	for i, result := range []journal.ResultKind{journal.Done, journal.Done, journal.Failure, "", journal.Skipped} {
		name := fmt.Sprintf("g/step-%d", i)
		picture.take(engine.Event{At: midnight, Kind: engine.StepBegan, Step: name, Attempt: 1})
		if result != "" {
			picture.take(engine.Event{At: midnight, Kind: engine.StepEnded, Step: name, Attempt: 1,
				Result: &journal.Result{Result: result, Reason: "no"}})
		}
	}
	frame := uncoloured(picture.draw(midnight.Add(time.Minute), 100, 0, 0))
	for _, want := range []string{"2 of 200 done, 1 at work, 195 to come, 1 skipped, 1 went wrong", "✗ g/step-2",
		"⠋ g/step-3"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not drawn:\n%s", want, frame)
		}
	}
	if strings.Contains(frame, "g/step-0") || strings.Count(frame, "\n") > 10 {
		t.Errorf("drawn:\n%s", frame)
	}
}

// TestLogOfStepsBesideEachOther: each line of the log is about its own step.
func TestLogOfStepsBesideEachOther(t *testing.T) {
	var out strings.Builder
	log := NewLog(NewHandler(&out, 0))
	for _, event := range []engine.Event{
		{Kind: engine.StepBegan, Step: "one", Attempt: 1}, {Kind: engine.StepBegan, Step: "two", Attempt: 1},
		{Kind: engine.StepEnded, Step: "one", Attempt: 1, Result: &journal.Result{Result: journal.Done}},
	} {
		log.Watch(event)
	}
	if lines := strings.Split(out.String(), "\n"); !strings.Contains(lines[2], `"phase":"one"`) {
		t.Errorf("logged %s", lines[2])
	}
}
