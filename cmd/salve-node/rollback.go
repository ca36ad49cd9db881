//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"

	"salve/internal/clock"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/payload"
)

// runRollback puts back the files that the last scripts replaced.
func (n *node) runRollback() int {
	e := n.event("rollback")
	done, err := n.rollback()
	switch {
	case errors.Is(err, payload.ErrNothingApplied):
		e.Outcome = outcomeNothingToDo
		fmt.Fprintf(n.stdout, "Nothing to do: %v.\n", err)
		err = nil
	case err != nil:
		e.Level, e.Outcome, e.Problem = event.Error, outcomeOf(err), oneLine(err)
		n.warn("rollback: " + err.Error() + "; say it again, it goes on where it stopped")
	default:
		e.Outcome = outcomeRolledBack
		fmt.Fprintf(n.stdout, "The files that scripts %s replaced are back. This version is not applied here again.\n",
			done.Version)
		for _, path := range done.Left {
			fmt.Fprintf(n.stdout, "%s was changed by somebody else since, and is left as it is.\n", path)
		}
	}
	e.Scripts = &event.Scripts{Outcome: e.Outcome, Target: done.Version}
	n.record(e)
	if err != nil {
		return exitFailed
	}
	return exitDone
}

func (n *node) rollback() (payload.RolledBackTo, error) {
	ctx, cancel := clock.WithTimeout(context.Background(), n.clock, n.settings.budget)
	defer cancel()
	release, err := n.slot().Lock(ctx)
	if err != nil {
		return payload.RolledBackTo{}, err
	}
	defer release()
	return n.tree().Rollback()
}
