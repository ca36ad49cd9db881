package rescuepods

import (
	"context"
	"errors"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// record is the record of the pods as it was read back, or why it is not this run's.
type record struct {
	pods    int
	found   bool
	foreign *stranded.ForeignError
}

func (r *rescue) readRecord(ctx context.Context, run runbook.Run) (record, error) {
	pods, found, err := r.ReadRecorded(ctx, run)
	var foreign *stranded.ForeignError
	if errors.As(err, &foreign) {
		err = nil
	}
	return record{len(pods), found, foreign}, err
}

func (seen record) kept() runbook.Finding {
	switch {
	case seen.foreign != nil:
		return runbook.No("%s", seen.foreign).WithOutcome(runbook.NeedsAttention).NotOverridable()
	case !seen.found:
		return runbook.Unknownf("not found: the run has no record of pods")
	}
	return runbook.Yes("pods that were read back: %d", seen.pods)
}

// statusOfAll says what became of the recorded pods.
func (r *rescue) statusOfAll(ctx context.Context, run runbook.Run) (stranded.Status, error) {
	return r.status(ctx, run, all)
}

func (r *rescue) recordedGone() runbook.Guard {
	return runbook.Ask("recorded-gone", "are the recorded pods gone?", r.statusOfAll, recordedGone)
}

func recordedGone(now stranded.Status) runbook.Finding {
	if left := now.Left(); left != "" {
		return runbook.No("%s", left)
	}
	return runbook.Yes("gone: %d; free to start where they are, and left alone: %d; "+
		"no longer selected, and left alone: %d",
		len(now.Gone), len(now.Free), len(now.Unselected))
}

func (r *rescue) runningUntouched() runbook.Guard {
	return runbook.Ask("running-untouched", "was no pod touched in which something has started?", r.statusOfAll,
		func(now stranded.Status) runbook.Finding {
			return runningUntouched(now, len(r.seen.Last().Left)).WithEvidence(r.seen.Last().Evidence()...)
		})
}

func runningUntouched(now stranded.Status, left int) runbook.Finding {
	if touched := now.Touched(); touched != "" {
		return runbook.No("%s", touched)
	}
	return runbook.Yes("left alone elsewhere: %d", left-len(now.Stuck)-len(now.Terminating))
}

func (r *rescue) jobsAccountedFor() runbook.Guard {
	read := func(ctx context.Context, run runbook.Run) (stranded.Replacement, error) {
		now, err := r.statusOfAll(ctx, run)
		if err != nil {
			return stranded.Replacement{}, err
		}
		return r.ReplacementOf(ctx, run, r.jobs(), now.Deleted())
	}
	return runbook.Ask("jobs-accounted-for", "has each unfinished job a pod where it belongs, or is it listed?",
		read, r.in.jobsAccountedFor)
}

func (in Inputs) jobsAccountedFor(after stranded.Replacement) runbook.Finding {
	if len(after.Waiting) > 0 {
		return runbook.No("job %s is not complete, has no pod in %s, and is not listed", after.Waiting[0], in.expected())
	}
	return runbook.Yes("%s", after)
}
