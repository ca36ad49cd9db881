package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/engine"
	"salve/fault"
	"salve/journal"
	"salve/pace"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// verb is what a command asks of the engine.
type verb string

const (
	act   verb = "run"
	plan  verb = "plan"
	check verb = "check"
)

// errand is a request at work: its pools, one after the other.
type errand struct {
	*request
	app   *app
	verb  verb
	world recreatepool.World
	// journal is opened by the errand, unless it is there already.
	journal *journal.Place
	watch   *watch
	// scenario is what is rehearsed; empty on a real cluster.
	scenario string
}

// do works through the pools. It stops after a run that ends failed, undecided
// or needing attention; what was done up to an error is given back with it.
func (e *errand) do(parent context.Context) ([]engine.Result, error) {
	ctx, done := interruptible(parent, e.watch.say)
	defer done()
	if err := e.validate(); err != nil {
		return nil, err
	}
	ending, err := e.open(ctx)
	if err != nil || ending != nil {
		return ending, err
	}
	pools, ending, err := e.pools(ctx)
	if err != nil || ending != nil {
		return ending, err
	}
	var results []engine.Result
	for _, pool := range pools {
		result, err := e.one(ctx, pool)
		if result.Runbook != "" {
			results = append(results, result)
		}
		if err != nil || exitOf(result.Outcome) != exitDecided {
			return results, err
		}
		if cause := context.Cause(ctx); cause != nil {
			return results, cause
		}
	}
	return results, nil
}

// validate finds what can't be meant before anything is asked.
func (e *errand) validate() error {
	book, err := recreatepool.New(e.world, e.inputs)
	if err != nil {
		return usage("%v", err)
	}
	return engine.Validate(book, engine.Options{Overrides: e.overridesFor(book)})
}

// one does the errand for a pool.
func (e *errand) one(ctx context.Context, pool string) (engine.Result, error) {
	inputs := e.inputs
	inputs.Pool = pool
	book, err := recreatepool.New(e.world, inputs)
	if err != nil {
		return engine.Result{}, usage("%v", err)
	}
	open := e.openRun(ctx, book.Target)
	if open != nil && open.Header.Runbook == book.Name {
		begun, err := inputsOf(open.Header)
		if err != nil {
			return engine.Result{}, err
		}
		if begun != inputs {
			e.watch.say(fmt.Sprintf("Run %s is open: it goes on with the inputs that it was begun with.", open.Run))
		}
		if book, err = recreatepool.New(e.world, begun); err != nil {
			return engine.Result{}, &attention{fmt.Errorf("the inputs in the journal of run %q: %w", open.Run, err)}
		}
	}
	e.watch.begin(book.Name+" on "+book.Target.Name, e.verb != act)
	defer e.watch.end()
	machine := &engine.Engine{
		Journal: e.journal, Clock: e.world.Clock, Holder: e.app.holder(), Watch: e.watch.event, NewRun: e.app.newRun,
	}
	options := engine.Options{Overrides: e.overridesFor(book)}
	if e.verb != act {
		return e.look(ctx, machine, open, book, options)
	}
	if open != nil {
		e.watch.recall(open.History)
	}
	result, err := patiently(ctx, e.watch, e.waitForLease, func() (engine.Result, error) {
		return machine.Run(ctx, book, options)
	})
	return e.unseen(book.Target, result, err)
}

// openRun is the run that a run would go on with; nil when there is none, or none
// that can be read, which is for the engine to refuse.
func (e *errand) openRun(ctx context.Context, target runbook.Target) *journal.Record {
	open, err := journal.Find(ctx, e.journal, func(history *journal.History) bool {
		return history.Closed == nil && history.Header.Target.ID == target.ID
	}, func(string, error) {})
	if err != nil || len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}

// look asks and changes nothing. An open run of the target is named in the
// result.
func (e *errand) look(ctx context.Context, machine *engine.Engine, open *journal.Record, book runbook.Runbook, options engine.Options) (engine.Result, error) {
	ask := machine.Plan
	if e.verb == check {
		ask = machine.Check
	}
	result, err := ask(ctx, book, options)
	if err == nil && open != nil {
		result.Run, result.Open = open.Run, true
	}
	return result, err
}

// leasePause is the time between two attempts to get a lease.
const leasePause = 2 * time.Second

// patiently repeats what needs a lease while another runner holds it, for a time.
func patiently(ctx context.Context, watch *watch, patience time.Duration, call func() (engine.Result, error)) (engine.Result, error) {
	began, told := watch.clock.Now(), false
	for {
		result, err := call()
		var held *journal.HeldError
		if !errors.As(err, &held) || watch.clock.Since(began) >= patience {
			return result, err
		}
		if !told {
			watch.say(fmt.Sprintf("Waiting for the lease for at most %s: %v.", patience, held))
			told = true
		}
		if err := pace.Pause(ctx, watch.clock, leasePause); err != nil {
			return result, err
		}
	}
}

// pools names the pools to work on. Where none is to be worked on it gives the
// ending instead.
func (e *errand) pools(ctx context.Context) ([]string, []engine.Result, error) {
	if e.role == "" {
		return []string{e.inputs.Pool}, nil, nil
	}
	cluster, err := e.world.Azure.Cluster(ctx, e.inputs.ResourceGroup, e.inputs.Cluster)
	switch {
	case context.Cause(ctx) != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil && fault.ClassOf(err) == fault.Missing:
		return nil, e.without(runbook.NothingToDo, "the cluster does not exist"), nil
	case err != nil:
		return nil, e.without(runbook.Undecided, fmt.Sprintf("the pools of role %q can't be seen: %v", e.role, err)), nil
	}
	begun, err := e.begunPools(ctx, cluster)
	if err != nil {
		return nil, nil, err
	}
	pools := append(begun, recreatepool.PoolsOfRole(cluster, e.role)...)
	if len(pools) == 0 {
		return nil, e.without(runbook.NothingToDo, fmt.Sprintf("the cluster has no pool of role %q", e.role)), nil
	}
	return pools, nil, nil
}

// begunPools are pools of the cluster that an open run has deleted and not made
// again: nothing in the cluster tells their role any more, and they come first.
func (e *errand) begunPools(ctx context.Context, cluster azure.Cluster) ([]string, error) {
	var unreadable error
	open, err := journal.Find(ctx, e.journal, func(history *journal.History) bool {
		return history.Closed == nil && history.Header.Runbook == recreatepool.Name
	}, func(_ string, err error) { unreadable = err })
	if err = errors.Join(err, unreadable); err != nil {
		return nil, err
	}
	var pools []string
	for _, record := range open {
		_, pool, _ := strings.Cut(record.Header.Target.Name, "/")
		if _, there := cluster.Pool(pool); !there && record.Header.Target.ID == strings.ToLower(azure.PoolID(e.clusterID(), pool)) {
			pools = append(pools, pool)
		}
	}
	return pools, nil
}

func (e *errand) clusterID() string {
	return azure.ClusterID(e.inputs.Subscription, e.inputs.ResourceGroup, e.inputs.Cluster)
}

// without is the ending of an errand that came to no pool.
func (e *errand) without(outcome runbook.Outcome, reason string) []engine.Result {
	return []engine.Result{{
		Runbook: recreatepool.Name, Outcome: outcome, Reason: reason,
		Target: runbook.Target{Kind: "AKS cluster", ID: strings.ToLower(e.clusterID()), Name: e.inputs.Cluster},
	}}
}
