package helmrelease

import (
	"context"
	"time"

	"salve/runbook"
)

// pinned is the note of what this run began to apply.
const pinned = "chart"

// pin is a chart of a registry as a run applies it.
type pin struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
}

// pin writes down which chart is applied, before it is: a tag may name another one when the run is resumed.
func (r *release) pin(ctx context.Context, run runbook.Run) error {
	from := r.order.Origin
	if from.Reference == "" {
		return nil
	}
	return run.Note(ctx, pinned, pin{Reference: from.Reference, Digest: from.Digest})
}

// origin is the chart as it is to be applied, as this run began to apply it, and as the registry has it now.
type origin struct {
	// Reference is empty for a chart in a folder; so is what follows.
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	// Began is what this run began with by the same reference; empty where it began with none.
	Began string    `json:"began"`
	Now   string    `json:"now"`
	Seen  time.Time `json:"seen"`
}

// chartUnmoved asks whether a reference names the chart that was planned. What it named then is what is applied, and
// nothing else: a tag that moves in between is noticed here.
func (r *release) chartUnmoved() runbook.Guard {
	return runbook.Ask("chart-unmoved", "does the chart's reference name what it named when the chart was read?",
		r.readOrigin, chartUnmoved)
}

func (r *release) readOrigin(ctx context.Context, run runbook.Run) (origin, error) {
	from := r.order.Origin
	seen := origin{Reference: from.Reference, Digest: from.Digest, Seen: r.Clock.Now()}
	if from.Reference == "" {
		return seen, nil
	}
	var began pin
	if known, err := run.Recall(pinned, &began); err != nil {
		return seen, err
	} else if known && began.Reference == from.Reference {
		seen.Began = began.Digest
	}
	var err error
	seen.Now, err = from.Now(ctx)
	return seen, err
}

func chartUnmoved(seen origin) runbook.Finding {
	finding := runbook.Yes("chart %s is %s", seen.Reference, seen.Digest)
	switch {
	case seen.Reference == "":
		return runbook.Yes("the chart is in a folder")
	case seen.Began != "" && seen.Began != seen.Digest:
		finding = runbook.No("chart %s has moved: this run began with %s, and it is %s now; hint: name the chart by its "+
			"digest, or abandon the run and begin another one", seen.Reference, seen.Began, seen.Digest).
			WithOutcome(runbook.NeedsAttention).NotOverridable()
	case seen.Now != seen.Digest:
		finding = runbook.No("chart %s has moved: it was %s when it was read, and is %s now; hint: run it again, or name "+
			"the chart by its digest", seen.Reference, seen.Digest, seen.Now).WithOutcome(runbook.Failed).NotOverridable()
	}
	return finding.WithEvidence(runbook.NewEvidence("chart "+seen.Reference, seen.Now, seen.Seen, nil))
}
