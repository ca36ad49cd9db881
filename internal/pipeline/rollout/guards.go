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
	var guards []runbook.Guard
	if w.runner.Content != nil {
		guards = append(guards, onResume(w.contentUnmoved()))
	}
	guards = append(guards, onResume(runbook.Ask(revisionOrder, "Was no newer revision rolled out here?", w.readOrder,
		w.plan.Inputs.inOrder)))
	if w.runner.Prepare != nil {
		guard := onResume(runbook.Ask(prepared, "Is there all that the steps need?", w.readPrepared, preparation.decide))
		guard.NotOverridable, guard.Prepare, guard.PrepareBudget = true, w.prepare, building
		guards = append(guards, guard)
	}
	for _, guard := range w.runner.Guards {
		guards = append(guards, onResume(guard))
	}
	return guards
}

func onResume(guard runbook.Guard) runbook.Guard {
	guard.OnResume = true
	return guard
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

// preparation is what was made of what the steps need.
type preparation struct {
	// Made says what was made; Failure why something is not there, empty when all is.
	Made    string `json:"made"`
	Failure string `json:"failure"`
}

// readPrepared answers for what was made, and asks the steps' actions. What was cut off is not known.
func (w *work) readPrepared(ctx context.Context, _ runbook.Run) (preparation, error) {
	err := w.unmade
	if err == nil {
		err = w.runner.able(ctx, w.plan)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return preparation{}, err
	case err != nil:
		return preparation{Made: w.made, Failure: err.Error()}, nil
	}
	return preparation{Made: w.made}, nil
}

func (p preparation) decide() runbook.Finding {
	if p.Failure != "" {
		return runbook.No("%s", p.Failure).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("%s", p.Made)
}

// before is what was rolled out before a plan, on the resource groups that it changes.
type before struct {
	// OpenBeside is an open run on one of them; empty when there is none.
	OpenBeside string `json:"openBeside"`
	// Revisions are those of earlier runs, the newest first and each once, up to the first that decides.
	Revisions []rolledOut `json:"revisions"`
}

// rolledOut is a revision that an earlier run rolled out.
type rolledOut struct {
	Run      string `json:"run"`
	Revision string `json:"revision"`
	// Newer: it is newer than the plan's.
	Newer bool `json:"newer"`
	// Unordered is why it can't be told which of the two is newer, and Unread why they could not be compared.
	Unordered string           `json:"unordered"`
	Unread    *runbook.Failure `json:"unread"`
	Seen      time.Time        `json:"seen"`
}

// decides tells whether nothing before it matters any more.
func (r rolledOut) decides() bool { return r.Newer || r.Unordered != "" || r.Unread != nil }

// readOrder reads what was rolled out before, under the lease, and compares it with the plan's revision.
func (w *work) readOrder(ctx context.Context, run runbook.Run) (seen before, _ error) {
	history, err := w.runner.history(ctx, w.plan, run.ID())
	if err != nil {
		return seen, err
	}
	w.history = history
	if seen.OpenBeside = history.openBeside(run.ID(), w.plan.Target().ID); seen.OpenBeside != "" {
		return seen, nil
	}
	if err := w.warnOfOthers(ctx, run); err != nil {
		return seen, err
	}
	for _, record := range slices.Backward(w.history.runs) {
		theirs := inputsOf(record.History).Revision
		known := func(r rolledOut) bool { return r.Revision == theirs }
		if !record.Changed() || theirs == "" || slices.ContainsFunc(seen.Revisions, known) {
			continue
		}
		one := w.compare(ctx, record.Run, theirs)
		if seen.Revisions = append(seen.Revisions, one); one.decides() || w.plan.Inputs.Revision == "" {
			break
		}
	}
	return seen, nil
}

// compare compares the plan's revision with one that a run rolled out.
func (w *work) compare(ctx context.Context, run, theirs string) rolledOut {
	one := rolledOut{Run: run, Revision: theirs, Seen: w.runner.Clock.Now()}
	if w.plan.Inputs.Revision == "" {
		return one
	}
	order, err := revision.Compare(ctx, w.plan.File.Folder(), w.plan.Inputs.Revision, theirs)
	var unordered *revision.UnorderedError
	switch {
	case errors.As(err, &unordered):
		one.Unordered = err.Error()
	case err != nil:
		one.Unread = runbook.FailureOf(err)
	default:
		one.Newer = order == revision.Older
	}
	return one
}

// inOrder holds when no newer revision was rolled out before, and none is being rolled out.
func (in Inputs) inOrder(seen before) runbook.Finding {
	if seen.OpenBeside != "" {
		return runbook.No("run %s is open on a resource group of this rollout. hint: salve resume %s, or salve runs "+
			"abandon %s", seen.OpenBeside, seen.OpenBeside, seen.OpenBeside).WithOutcome(runbook.Failed).NotOverridable()
	}
	var compared []runbook.Evidence
	for _, one := range seen.Revisions {
		evidence := runbook.NewEvidence("journal", one.Run, one.Seen, map[string]string{"revision": one.Revision})
		switch {
		case in.Revision == "":
			return runbook.Unknownf("the pipeline has no revision, and run %s rolled out revision %s here", one.Run,
				one.Revision).WithEvidence(evidence)
		case one.Unordered != "":
			return runbook.Unknownf("whether it is older than what run %s rolled out can't be told: %s", one.Run,
				one.Unordered).WithEvidence(evidence)
		case one.Unread != nil:
			return runbook.Unknown(one.Unread).WithEvidence(evidence)
		case one.Newer:
			return runbook.No("revision %s is older than %s, which run %s rolled out here", in.Revision, one.Revision,
				one.Run).WithEvidence(evidence).WithOutcome(runbook.Failed)
		}
		compared = append(compared, evidence)
	}
	switch {
	case len(compared) > 0:
		return runbook.Yes("revision %s is no older than any that was rolled out here", in.Revision).WithEvidence(compared...)
	case in.Revision == "":
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
