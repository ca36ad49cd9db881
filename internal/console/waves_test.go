package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// rollout is a picture of a pipeline of a few steps: one is done, one has failed,
// one is at work.
func rollout(waves ...[]string) *picture {
	picture, plan := &picture{title: "rollout", waves: waves}, &runbook.Plan{}
	for _, wave := range waves {
		for _, name := range wave {
			plan.Steps = append(plan.Steps, runbook.PlannedStep{Name: name})
		}
	}
	picture.take(engine.Event{At: midnight, Kind: engine.RunBegan, Run: "r1"})
	picture.take(engine.Event{Kind: engine.PlanMade, Plan: plan})
	for name, result := range map[string]*journal.Result{"g/one": {Result: journal.Done},
		"g/two": {Result: journal.Failure, Reason: "no"}, "g/three": nil} {
		picture.take(engine.Event{At: midnight, Kind: engine.StepBegan, Step: name, Attempt: 1})
		if result != nil {
			picture.take(engine.Event{At: midnight, Kind: engine.StepEnded, Step: name, Attempt: 1, Result: result})
		}
	}
	return picture
}

// TestGraph: the steps of a pipeline stand wave by wave, however few they are.
func TestGraph(t *testing.T) {
	picture := rollout([]string{"g/one", "g/two"}, []string{"g/three"},
		[]string{"g/four", "group/a-long-name", "group/another", "g/last"})
	picture.take(engine.Event{At: midnight, Kind: engine.StepEnded, Step: "g/last",
		Result: &journal.Result{Result: journal.Skipped}})
	frame := uncoloured(picture.draw(midnight.Add(time.Minute), 64, 0, 0))
	want := `rollout  run r1                                             1m0s
  ✗ steps              1 of 7 done, 1 at work, 3 to come, 1
                       skipped, 1 went wrong
    1  ✓ g/one  ✗ g/two
    2  ⠋ g/three
    3  · g/four  · group/a-long-name  · group/another
       – g/last
  ✗ g/two              no                                     0s
  ⠋ g/three                                                 1m0s
`
	if diff := cmp.Diff(want, trimmed(frame)); diff != "" {
		t.Error(diff)
	}
}

// TestGraphThatDoesNotFit is not drawn; its steps are counted.
func TestGraphThatDoesNotFit(t *testing.T) {
	var waves [][]string
	for i := range 30 {
		waves = append(waves, []string{fmt.Sprintf("g/step-%d", i)})
	}
	frame := uncoloured(rollout(waves...).draw(midnight, 80, 0, 0))
	if strings.Contains(frame, "step-0") || !strings.Contains(frame, "of 33 done") {
		t.Errorf("drawn:\n%s", frame)
	}
}

// trimmed is a frame without the spaces at the ends of its lines.
func trimmed(frame string) string {
	lines := strings.Split(frame, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
