package rollout

import (
	"context"
	"errors"
	"slices"
	"time"

	"salve/internal/pipeline"
	"salve/internal/pipeline/revision"
	"salve/journal"
	"salve/runbook"
)

// revisionOrder is the guard that keeps an older revision from being rolled out
// over a newer one.
const revisionOrder = "revision-order"

// prepared is the guard behind which there is all that the steps need; building bounds
// the making of it.
const (
	prepared = "prepared"
	building = 4 * time.Hour
)

// guards are asked when a run begins, and again when it is resumed.
func (w *work) guards() []runbook.Guard {
	guards := []runbook.Guard{{
		Name: revisionOrder, Question: "Was no newer revision rolled out here?", OnResume: true, Evaluate: w.inOrder,
	}}
	if w.runner.Prepare != nil {
		guards = append(guards, runbook.Guard{
			Name: prepared, Question: "Is there all that the steps need?", NotOverridable: true, OnResume: true,
			Prepare: w.prepare, PrepareBudget: building, Evaluate: w.prepared,
		})
	}
	for _, guard := range w.runner.Guards {
		guard.OnResume = true
		guards = append(guards, guard)
	}
	return guards
}

// prepare has made what the steps need. It is no part of the guard, which is bounded by
// what asking takes. An error means that it was cut off, and says nothing of what there
// is; the guard answers for one that failed.
func (w *work) prepare(ctx context.Context, _ runbook.Run) error {
	w.made, w.unmade = w.runner.Prepare(ctx)
	if w.unmade != nil && (ctx.Err() != nil || errors.Is(w.unmade, context.DeadlineExceeded)) {
		return w.unmade
	}
	return nil
}

// prepared answers for what was made, and asks the steps' actions.
func (w *work) prepared(ctx context.Context, _ runbook.Run) runbook.Finding {
	err := w.unmade
	if err == nil {
		err = w.runner.able(ctx, w.plan)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return runbook.Unknown(err)
	case err != nil:
		return runbook.No("%s", err.Error()).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("%s", w.made)
}

// inOrder reads what was rolled out before, under the lease, and compares it with
// the plan's revision.
func (w *work) inOrder(ctx context.Context, run runbook.Run) runbook.Finding {
	history, err := w.runner.history(ctx, w.plan, run.ID())
	if err != nil {
		return runbook.Unknown(err)
	}
	w.history = history
	if other := history.openBeside(run.ID(), w.plan.Target().ID); other != "" {
		return runbook.No("run %s is open on a resource group of this rollout. hint: salve resume %s, or salve runs "+
			"abandon %s",
			other, other, other).WithOutcome(runbook.Failed).NotOverridable()
	}
	if err := w.warnOfOthers(ctx, run); err != nil {
		return runbook.Unknown(err)
	}
	return w.compare(ctx)
}

func (w *work) compare(ctx context.Context) runbook.Finding {
	ours := w.plan.Inputs.Revision
	var compared []runbook.Evidence
	var seen []string
	for _, run := range slices.Backward(w.history.runs) {
		theirs := inputsOf(run.History).Revision
		if !run.Changed() || theirs == "" || slices.Contains(seen, theirs) {
			continue
		}
		seen = append(seen, theirs)
		evidence := runbook.NewEvidence("journal", run.Run, w.runner.Clock.Now(), map[string]string{"revision": theirs})
		if ours == "" {
			return runbook.Unknownf("the pipeline has no revision, and run %s rolled out revision %s here", run.Run, theirs).
				WithEvidence(evidence)
		}
		order, err := revision.Compare(ctx, w.plan.File.Folder(), ours, theirs)
		var unordered *revision.UnorderedError
		switch {
		case errors.As(err, &unordered):
			return runbook.Unknownf("whether it is older than what run %s rolled out can't be told: %v", run.Run, err).
				WithEvidence(evidence)
		case err != nil:
			return runbook.Unknown(err).WithEvidence(evidence)
		case order == revision.Older:
			return runbook.No("revision %s is older than %s, which run %s rolled out here", ours, theirs, run.Run).
				WithEvidence(evidence).WithOutcome(runbook.Failed)
		}
		compared = append(compared, evidence)
	}
	switch {
	case len(seen) > 0:
		return runbook.Yes("revision %s is no older than any that was rolled out here", ours).WithEvidence(compared...)
	case ours == "":
		return runbook.Yes("neither this pipeline nor one before it has a revision")
	}
	return runbook.Yes("no revision was rolled out here before")
}

// warnOfOthers says, once, which steps of other pipelines this one relies on and the
// journal does not show to be done.
func (w *work) warnOfOthers(ctx context.Context, run runbook.Run) error {
	if w.history.changed(run.ID()) {
		return nil
	}
	for _, step := range w.plan.Steps {
		for _, other := range step.ExternalDependsOn {
			id := pipeline.StepID{ResourceGroup: other.ResourceGroup.Value, Step: other.Step.Value}
			if w.runner.elsewhere(ctx, other.ServiceGroup.Value, id) {
				continue
			}
			if err := run.Warn(ctx, "step %s relies on step %s of %s, which this journal does not show to be done",
				step.ID(), id, other.ServiceGroup.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// elsewhere tells whether a step of another pipeline was ever done.
func (r *Runner) elsewhere(ctx context.Context, serviceGroup string, step pipeline.StepID) bool {
	found := false
	err := journal.NewestFirst(ctx, r.Journal, func(run *journal.Record) bool {
		_, done := doneAt(run.History, step)
		found = done && inputsOf(run.History).ServiceGroup == serviceGroup
		return !found
	}, func(string, error) {})
	return err == nil && found
}
