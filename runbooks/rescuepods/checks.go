package rescuepods

import (
	"context"
	"fmt"

	"salve/kube/strays"
	"salve/runbook"
)

// check is a guard about what became of the recorded pods.
func (r *rescue) check(name, asks string, answer func(context.Context, runbook.Run, strays.Remains) runbook.Finding) runbook.Guard {
	return runbook.Guard{Name: name, Asks: asks, Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
		now, err := r.remains(ctx, run, all)
		if err != nil {
			return runbook.Unseen(err.Error())
		}
		return answer(ctx, run, now)
	}}
}

func (r *rescue) recordedGone() runbook.Guard {
	return r.check("recorded-gone", "are the recorded pods gone?", func(_ context.Context, _ runbook.Run, now strays.Remains) runbook.Finding {
		if left := now.Left(); left != "" {
			return runbook.No(left)
		}
		return runbook.Yes(fmt.Sprintf("gone: %d; free to start where they are, and left alone: %d", len(now.Gone), len(now.Free)))
	})
}

func (r *rescue) runningUntouched() runbook.Guard {
	return r.check("running-untouched", "was no pod touched in which something has started?", func(_ context.Context, _ runbook.Run, now strays.Remains) runbook.Finding {
		if touched := now.Touched(); touched != "" {
			return runbook.No(touched, r.seen.Evidence()...)
		}
		return runbook.Yes(fmt.Sprintf("left alone elsewhere: %d", len(r.seen.Left)-len(now.Held)-len(now.Ending)), r.seen.Evidence()...)
	})
}

func (r *rescue) jobsAccountedFor() runbook.Guard {
	return r.check("jobs-accounted-for", "has each unfinished job a pod where it belongs, or is it listed?", func(ctx context.Context, run runbook.Run, now strays.Remains) runbook.Finding {
		after, err := r.Aftermath(ctx, run, r.jobs(), now.Deleted())
		switch {
		case err != nil:
			return runbook.Unseen(err.Error())
		case len(after.Waiting) > 0:
			return runbook.No(fmt.Sprintf("job %s is not complete, has no pod in %s, and is not listed", after.Waiting[0], r.in.homes()))
		}
		return runbook.Yes(after.String())
	})
}
