package rollout

import (
	"context"

	"salve/journal"
)

// Open tells how a plan would begin: the open run that it would resume, empty where it would begin a new one. The error
// says why it could do neither, which may be for another reason by the time it is tried.
func (r *Runner) Open(ctx context.Context, plan *Plan) (run string, err error) {
	target := plan.Target().ID
	peeked, err := r.Journal.Peek(ctx, target)
	if err != nil {
		return "", err
	}
	found, err := journal.FindOpen(ctx, r.Journal, target, peeked.Open)
	if err != nil || found.Record == nil {
		return "", err
	}
	if found.Record.Header.Runbook == Name && plan.same(found.Record.Header) == nil {
		return found.Record.Run, nil
	}
	return "", r.supersede(plan, found.Record.History)
}
