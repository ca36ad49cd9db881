package rollout

import (
	"context"
	"time"

	"salve/runbook"
)

// contentUnmoved is the guard of a run that waits for an approval: what is approved is what is executed.
const contentUnmoved = "content-unmoved"

// contents are the SHA-256 of what a pipeline consists of: when its plan was made, and now.
type contents struct {
	Planned string    `json:"planned"`
	Found   string    `json:"found"`
	Seen    time.Time `json:"seen"`
}

func (w *work) contentUnmoved() runbook.Guard {
	guard := runbook.Ask(contentUnmoved, "Is what the pipeline names still as it was when the plan was made?",
		w.readContent, contents.decide)
	guard.NotOverridable = true
	return guard
}

func (w *work) readContent(ctx context.Context, _ runbook.Run) (contents, error) {
	found, err := w.runner.Content(ctx)
	return contents{Planned: w.plan.Content, Found: found, Seen: w.runner.Clock.Now()}, err
}

func (c contents) decide() runbook.Finding {
	evidence := runbook.NewEvidence("content", "sha256", c.Seen, c.Found)
	if c.Found != c.Planned {
		return runbook.No("files that the pipeline names have changed since the plan was made: their digest was %s, now %s",
			c.Planned, c.Found).WithOutcome(runbook.Failed).WithEvidence(evidence)
	}
	return runbook.Yes("they are as they were when the plan was made").WithEvidence(evidence)
}

// Moved tells whether the content of a plan is another than it was when the plan was made.
func (r *Runner) Moved(ctx context.Context, plan *Plan) (bool, error) {
	if r.Content == nil {
		return false, nil
	}
	found, err := r.Content(ctx)
	return err == nil && found != plan.Content, err
}
