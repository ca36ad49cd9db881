package rescuepods

import (
	"context"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// became looks what became of the recorded pods.
func (r *rescue) statusOfAll(ctx context.Context, run runbook.Run) (stranded.Status, error) {
	return r.status(ctx, run, all)
}

func (r *rescue) recordedGone() runbook.Guard {
	return ask("recorded-gone", "are the recorded pods gone?", r.statusOfAll, func(_ context.Context, _ runbook.Run, now stranded.Status) runbook.Finding {
		if left := now.Left(); left != "" {
			return runbook.No("%s", left)
		}
		return runbook.Yes("gone: %d; free to start where they are, and left alone: %d", len(now.Gone), len(now.Free))
	})
}

func (r *rescue) runningUntouched() runbook.Guard {
	return ask("running-untouched", "was no pod touched in which something has started?", r.statusOfAll, func(_ context.Context, _ runbook.Run, now stranded.Status) runbook.Finding {
		seen := r.seen.Last()
		if touched := now.Touched(); touched != "" {
			return runbook.No("%s", touched).WithEvidence(seen.Evidence()...)
		}
		return runbook.Yes("left alone elsewhere: %d", len(seen.Left)-len(now.Held)-len(now.Ending)).WithEvidence(seen.Evidence()...)
	})
}

func (r *rescue) jobsAccountedFor() runbook.Guard {
	return ask("jobs-accounted-for", "has each unfinished job a pod where it belongs, or is it listed?", r.statusOfAll, func(ctx context.Context, run runbook.Run, now stranded.Status) runbook.Finding {
		after, err := r.ReplacementOf(ctx, run, r.jobs(), now.Deleted())
		if err == nil && len(after.Waiting) > 0 {
			return runbook.No("job %s is not complete, has no pod in %s, and is not listed", after.Waiting[0], r.in.expected())
		}
		if err != nil {
			return runbook.Unknown(err)
		}
		return runbook.Yes("%s", after.String())
	})
}
