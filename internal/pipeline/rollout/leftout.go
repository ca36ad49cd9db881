package rollout

import (
	"slices"

	"salve/engine"
	"salve/internal/pipeline"
)

// leftOut is why a step was left out.
const leftOut = "left out by --skip-actions"

// skips tells whether a step is to be left out of the run: what waits for it goes
// on, and yet nobody has done it.
func (p *Plan) skips(step *pipeline.Step) bool {
	return slices.Contains(p.Inputs.Skip, step.Action.Value)
}

// leftOut tells whether a step was left out, and still is to be. Without the flag,
// who goes on with the run runs it.
func (w *walk) leftOut(i int) bool {
	return w.plan.skips(w.plan.Steps[i]) && w.record.Step(w.name(i)).Skipped()
}

// recallLeftOut leaves a step out once more. It is in the record already.
func (w *walk) recallLeftOut(i int) {
	last := w.record.Step(w.name(i)).Last
	w.tell(engine.Event{Kind: engine.StepEnded, Step: w.name(i), Result: &last})
	w.queue.done(i)
}
