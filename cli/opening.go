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
	"salve/journal/configmap"
	"salve/runbook"
)

// open opens the journal: in the folder that was asked for, or else in the cluster.
// When there is none to be reached it gives the ending of a run; who only looks
// needs none.
func (e *errand) open(ctx context.Context) ([]engine.Result, error) {
	var err error
	if e.folder != "" {
		if e.journal, err = e.shelf.open(ctx, e.app); err != nil || e.verb != act {
			return nil, err
		}
		return nil, e.leaseInWorld(ctx)
	}
	absent := false
	if err = e.reach(ctx); err == nil {
		err = e.probe(ctx) // not found there is the journal's, not the cluster's
	} else {
		absent = apierr.ClassOf(err) == apierr.Missing
	}
	class := apierr.ClassOf(err)
	switch {
	case err == nil:
		return nil, nil
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case absent && e.verb == act:
		return e.recipe.without(runbook.NothingToDo, "the cluster does not exist"), nil
	case e.verb != act:
		e.journal = journal.LocationOf(journal.NewMemory(), "memory")
		if !absent {
			e.watch.say(fmt.Sprintf("Whether a run is open can't be seen: %v.", err))
		}
		return nil, nil
	case class == apierr.Terminal:
		return nil, err
	}
	return e.recipe.without(runbook.Undecided, unreachable(err)), nil
}

// leaseInWorld takes the lease in the cluster too whenever that can be reached: two
// journals on one target, in two folders or in one and the cluster, have one lease.
func (e *errand) leaseInWorld(ctx context.Context) error {
	if e.scenario != "" {
		return nil // the rehearsal's cluster is its own
	}
	limited, cancel := clock.WithTimeout(ctx, e.clock, probeToLook)
	defer cancel()
	var kept *configmap.Journal
	cluster, err := e.recipe.cluster(limited)
	if err == nil {
		kept, err = configmap.New(configmap.Options{Client: cluster.Client, Clock: cluster.Clock, Namespace: e.namespace, Lease: e.lease})
	}
	if err == nil {
		_, err = kept.Peek(limited, "any")
	}
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		return nil // there is no cluster, which is for the guards to say
	case err != nil:
		e.watch.say(fmt.Sprintf("The lease is taken on this machine only, the cluster can't be reached: %v.", err))
		return nil
	}
	e.journal.Locker = journal.Lockers{kept, e.journal.Locker}
	return nil
}

// reach opens the journal in the recipe's cluster.
func (e *errand) reach(ctx context.Context) error {
	cluster, err := e.recipe.cluster(ctx)
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
func (e *errand) probe(ctx context.Context) error {
	limit := probeToAct
	if e.verb != act {
		limit = probeToLook
	}
	limited, cancel := clock.WithTimeout(ctx, e.clock, limit)
	defer cancel()
	_, err := e.journal.Runs(limited)
	return err
}

// unseen makes an undecided result of a run that could not begin because its
// journal could not be reached.
func (e *errand) unseen(target runbook.Target, result engine.Result, err error) (engine.Result, error) {
	var held *journal.HeldError
	if err == nil || result.Runbook != "" || errors.As(err, &held) || !passing(apierr.ClassOf(err)) {
		return result, err
	}
	ended := e.recipe.without(runbook.Undecided, unreachable(err))[0]
	ended.Target = target
	return ended, nil
}

// passing tells whether a failure says that nothing was seen, and not what is.
func passing(class apierr.Class) bool {
	return class == apierr.Transient || class == apierr.Throttled || class == apierr.Denied
}

func unreachable(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return fmt.Sprintf("the journal can't be reached, so nothing was done: %s (--journal FOLDER keeps it on this machine)", text)
}
