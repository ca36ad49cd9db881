package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// open opens the journal: in the folder that was asked for, or else in the cluster.
// When there is none to be reached it gives the ending of a run; who only looks
// needs none.
func (e *invocation) open(ctx context.Context) ([]engine.Result, error) {
	var err error
	if e.folder != "" {
		if e.journal, err = e.journalFlags.open(ctx, e.app); err != nil || e.verb != act {
			return nil, err
		}
		return nil, e.leaseInWorld(ctx)
	}
	absent := false
	if err = e.openInCluster(ctx); err == nil {
		err = e.probe(ctx) // not found there is the journal's, not the cluster's
	} else {
		absent = apierr.ClassOf(err) == apierr.Missing
	}
	class := apierr.ClassOf(err)
	var wrong *engine.InvalidError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &wrong):
		return nil, err
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case absent && e.verb == act:
		return e.factory.without(runbook.NothingToDo, "the cluster does not exist"), nil
	case e.verb != act:
		e.journal = journal.LocationOf(journal.NewMemory(), "memory")
		if !absent {
			e.watch.say(fmt.Sprintf("Whether a run is open can't be seen: %v.", err))
		}
		return nil, nil
	case class == apierr.Terminal:
		return nil, err
	}
	return e.factory.without(runbook.Undecided, unreachable(err)), nil
}

// leaseInWorld takes the lease in the target's cluster too, and on this machine, wherever the record is.
func (e *invocation) leaseInWorld(ctx context.Context) error {
	if e.scenario != "" {
		return nil // the rehearsal's cluster is its own
	}
	leased, err := e.app.withLeases(ctx, e.clock, &e.journalFlags, e.journal, e.factory.cluster, e.watch.say)
	if err != nil {
		return err
	}
	e.journal = leased
	return nil
}

// namedOpen names the run that the lease of a target says is open, in the target's cluster or beside the record. It
// fails when either can't be read: then nobody knows.
func (e *invocation) namedOpen(ctx context.Context, target string) (string, error) {
	lockers := journal.Lockers{e.journal.Locker}
	if e.scenario == "" {
		world, err := e.lockerInWorld(ctx, e.journal, e.factory.cluster)
		if err != nil {
			return "", err
		}
		if world != nil {
			lockers = append(lockers, world)
		}
	}
	peeked, err := lockers.Peek(ctx, target)
	if err != nil || peeked.Open == nil || peeked.Open.Closed {
		return "", err
	}
	return peeked.Open.Run, nil
}

// openInCluster opens the journal in the invocation's cluster.
func (e *invocation) openInCluster(ctx context.Context) error {
	cluster, err := e.factory.cluster(ctx)
	if err != nil {
		return err
	}
	e.journal, err = e.inCluster(cluster)
	return err
}

// How long a journal in a cluster is tried to be reached: who only looks can do
// without it.
const (
	probeToAct  = 30 * time.Second
	probeToLook = 10 * time.Second
)

// probe finds out whether the journal can be reached.
func (e *invocation) probe(ctx context.Context) error {
	limit := probeToAct
	if e.verb != act {
		limit = probeToLook
	}
	limited, cancel := clock.WithTimeout(ctx, e.clock, limit)
	defer cancel()
	_, err := e.journal.Runs(limited)
	return err
}

// undecidedIfUnreachable makes an undecided result of a run that could not begin because its
// journal could not be reached.
func (e *invocation) undecidedIfUnreachable(
	target runbook.Target, result engine.Result, err error,
) (engine.Result, error) {
	var held *journal.HeldError
	var begun *engine.UnrecordedError
	if err == nil || errors.As(err, &begun) || errors.As(err, &held) || !passing(apierr.ClassOf(err)) {
		return result, err
	}
	ended := e.factory.without(runbook.Undecided, unreachable(err))[0]
	ended.Target = target
	return ended, nil
}

// passing tells whether a failure says that nothing was seen, and not what is.
func passing(class apierr.Class) bool {
	return class == apierr.Transient || class == apierr.Throttled || class == apierr.Denied
}

func unreachable(err error) string {
	return fmt.Sprintf("the journal can't be reached, so no run was begun: %s. "+
		"hint: --journal FOLDER keeps it on this machine",
		strings.Join(strings.Fields(err.Error()), " "))
}
