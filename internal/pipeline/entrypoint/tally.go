package entrypoint

import (
	"fmt"
	"slices"
	"sync"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// tally reports how far the run of a pipeline is.
type tally struct {
	report func(runbook.Progress)

	mu          sync.Mutex
	steps, done int
	working     []string
}

// newTally begins with what a record shows to be done; it may be nil.
func newTally(run runbook.Run, record *journal.Record) *tally {
	t := &tally{report: run.Report}
	if record != nil {
		for _, step := range record.Steps() {
			if step.Finished() || step.Skipped() {
				t.done++
			}
		}
	}
	return t
}

// take takes what happens in the run. It must be told of everything, in order.
func (t *tally) take(event engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch event.Kind {
	case engine.PlanMade:
		t.steps = len(event.Plan.Steps)
	case engine.StepBegan:
		t.working = append(t.working, event.Step)
	case engine.StepEnded:
		t.working = slices.DeleteFunc(t.working, func(step string) bool { return step == event.Step })
		if event.Result.Result == journal.Done || event.Result.Result == journal.Skipped {
			t.done++
		}
	default:
		return
	}
	t.report(runbook.Progress{
		Text: fmt.Sprintf("run %s: %d of %d steps are done", event.Run, t.done, t.steps), Details: slices.Clone(t.working),
	})
}
