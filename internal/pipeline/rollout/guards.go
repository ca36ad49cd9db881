package rollout

import (
	"context"
	"errors"
	"slices"

	"salve/engine"
	"salve/internal/pipeline/revision"
	"salve/journal"
	"salve/runbook"
)

// revisionOrder is the guard that keeps an older revision from being rolled out
// over a newer one.
const revisionOrder = "revision-order"

// prepared is the guard behind which there is all that the steps need.
const prepared = "prepared"

// judge asks the guards, journals what they found, and decides.
func (w *walk) judge(ctx context.Context) (journal.Verdict, error) {
	guards := []runbook.Guard{{
		Name: revisionOrder, Question: "Was no newer revision rolled out here?",
		Evaluate: func(ctx context.Context, _ runbook.Run) runbook.Finding { return w.orderly(ctx) },
	}}
	if w.runner.Prepare != nil {
		guards = append(guards, runbook.Guard{
			Name: prepared, Question: "Is there all that the steps need?", NotOverridable: true,
			Evaluate: func(ctx context.Context, _ runbook.Run) runbook.Finding { return w.prepare(ctx) },
		})
	}
	guards = append(guards, w.runner.Guards...)
	judgement := journal.Evaluation{For: "start", Round: 1}
	for i, guard := range guards {
		finding := guard.Evaluate(ctx, nil)
		finding.Guard, finding.Locked = guard.Name, finding.Locked || guard.NotOverridable
		if finding.Answer != runbook.AnswerHolds && !finding.Locked {
			finding.Override = w.record.Header.Overrides[guard.Name]
		}
		judgement.Findings = append(judgement.Findings, finding)
		w.tell(engine.Event{Kind: engine.Found, Step: "start", Finding: &finding})
		if !finding.Passes() {
			for _, rest := range guards[i+1:] {
				judgement.Missing = append(judgement.Missing, rest.Name)
			}
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return journal.Verdict{}, cause
	}
	w.findings = judgement.Findings
	judgement.Decision = engine.Decide(runbook.FailClosed, judgement.Findings)
	return judgement.Decision, w.append(ctx, journal.Pending{Kind: journal.Evaluated, Data: judgement})
}

// prepare has made what the steps need, and then asks their actions.
func (w *walk) prepare(ctx context.Context) runbook.Finding {
	says, err := w.runner.Prepare(ctx)
	if err == nil {
		err = w.runner.able(ctx, w.plan)
	}
	if err != nil {
		return runbook.No("%s", err.Error()).WithOutcome(runbook.Failed)
	}
	return runbook.Yes("%s", says)
}

// orderly compares the plan's revision with all that were rolled out before.
func (w *walk) orderly(ctx context.Context) runbook.Finding {
	ours := w.plan.Inputs.Revision
	var compared []runbook.Evidence
	var seen []string
	for _, run := range slices.Backward(w.past.runs) {
		theirs := inputsOf(run.History).Revision
		if !run.Changed() || theirs == "" || slices.Contains(seen, theirs) {
			continue
		}
		seen = append(seen, theirs)
		evidence := runbook.NewEvidence("journal", run.Run, w.runner.Clock.Now(), map[string]string{"revision": theirs})
		if ours == "" {
			return runbook.Unknownf("the pipeline has no revision, and run %s rolled out revision %s here", run.Run, theirs).WithEvidence(evidence)
		}
		order, err := revision.Compare(ctx, w.plan.File.Folder(), ours, theirs)
		var unordered *revision.UnorderedError
		switch {
		case errors.As(err, &unordered):
			return runbook.Unknownf("whether it is older than what run %s rolled out can't be told: %v", run.Run, err).WithEvidence(evidence)
		case err != nil:
			return runbook.Unknown(err).WithEvidence(evidence)
		case order == revision.Older:
			return runbook.No("revision %s is older than %s, which run %s rolled out here", ours, theirs, run.Run).WithEvidence(evidence).WithOutcome(runbook.Failed)
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
