package rescuepods

import (
	"context"
	"fmt"

	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// became looks what became of the recorded pods.
func (r *rescue) statusOfAll(ctx context.Context, run runbook.Run) (stranded.Status, error) {
	return r.status(ctx, run, all)
}

func (r *rescue) recordedGone() runbook.Guard {
	return runbook.Ask("recorded-gone", "are the recorded pods gone?", r.statusOfAll, func(_ context.Context, _ runbook.Run, now stranded.Status) (runbook.Finding, error) {
		if left := now.Left(); left != "" {
			return runbook.No(left), nil
		}
		return runbook.Yes(fmt.Sprintf("gone: %d; free to start where they are, and left alone: %d", len(now.Gone), len(now.Free))), nil
	})
}

func (r *rescue) runningUntouched() runbook.Guard {
	return runbook.Ask("running-untouched", "was no pod touched in which something has started?", r.statusOfAll, func(_ context.Context, _ runbook.Run, now stranded.Status) (runbook.Finding, error) {
		seen := r.seen.Last()
		if touched := now.Touched(); touched != "" {
			return runbook.No(touched, seen.Evidence()...), nil
		}
		return runbook.Yes(fmt.Sprintf("left alone elsewhere: %d", len(seen.Left)-len(now.Held)-len(now.Ending)), seen.Evidence()...), nil
	})
}

func (r *rescue) jobsAccountedFor() runbook.Guard {
	return runbook.Ask("jobs-accounted-for", "has each unfinished job a pod where it belongs, or is it listed?", r.statusOfAll, func(ctx context.Context, run runbook.Run, now stranded.Status) (runbook.Finding, error) {
		after, err := r.ReplacementOf(ctx, run, r.jobs(), now.Deleted())
		if err == nil && len(after.Waiting) > 0 {
			return runbook.No(fmt.Sprintf("job %s is not complete, has no pod in %s, and is not listed", after.Waiting[0], r.in.expected())), nil
		}
		return runbook.Yes(after.String()), err
	})
}
