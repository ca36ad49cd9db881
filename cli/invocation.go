package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"salve/engine"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
)

// verb is what a command asks of the engine.
type verb string

const (
	act   verb = "run"
	plan  verb = "plan"
	check verb = "check"
)

// invocation is a request being executed: its runbooks, one after the other.
type invocation struct {
	*request
	app     *app
	verb    verb
	factory factory
	clock   clock.Clock
	// journal is opened by the invocation, unless it is there already.
	journal *journal.Location
	watch   *watch
	// from is where approvals come from; nil where none can.
	from engine.Approvals
	// scenario is what is rehearsed; empty on a real cluster.
	scenario string
	// usual is how long steps take, as far as that is known before any run.
	usual map[string]time.Duration
}

func newInvocation(a *app, asked *request, factory factory, verb verb) *invocation {
	clk := factory.clock()
	e := &invocation{request: asked, app: a, verb: verb, factory: factory, clock: clk, watch: &watch{app: a, clock: clk}}
	a.route, a.journal = asked.cloud.typed(), &asked.journalFlags
	asked.openRun, a.watch = e.namedOpen, e.watch
	return e
}

// run executes the runbooks one after the other. It stops after a run that ends failed, undecided
// or needing attention; what was done up to an error is given back with it.
func (e *invocation) run(parent context.Context) ([]engine.Result, error) {
	ctx, done := interruptible(parent, e.watch.say, e.watch.end)
	defer done()
	if err := e.validate(); err != nil {
		return nil, err
	}
	ending, err := e.open(ctx)
	if err != nil || ending != nil {
		return ending, err
	}
	if e.verb == act {
		if e.from, err = e.app.approvals(ctx, e.journal, &e.approvalFlags, e.factory.cluster); err != nil {
			return nil, err
		}
	}
	books, ending, err := e.factory.books(ctx, e.journal)
	if err != nil || ending != nil {
		return ending, err
	}
	var results []engine.Result
	for _, book := range books {
		result, err := e.runTarget(ctx, book)
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

// validate finds invalid inputs before anything is asked.
func (e *invocation) validate() error {
	book, err := e.factory.trial()
	if err != nil {
		return invalidInputs(err)
	}
	return engine.Validate(book, engine.Options{Overrides: e.overridesFor(book)})
}

// withOpenInputs gives a runbook the inputs that its target's open run was started with, if
// there is one, and that run.
func (e *invocation) withOpenInputs(
	ctx context.Context, book runbook.Runbook,
) (runbook.Runbook, *journal.Record, error) {
	open := e.openRun(ctx, book.Target)
	if open == nil || open.Header.Runbook != book.Name {
		return book, open, nil
	}
	asked, err := json.Marshal(book.Inputs)
	if err != nil {
		return book, open, err
	}
	if !bytes.Equal(asked, open.Header.Inputs) {
		e.watch.say(fmt.Sprintf("Run %s is open: it is resumed with the inputs that it was started with.", open.Run))
	}
	book, err = e.factory.again(ctx, e.journal, open.Header)
	return book, open, err
}

// runTarget executes the invocation for one target.
func (e *invocation) runTarget(ctx context.Context, book runbook.Runbook) (engine.Result, error) {
	book, open, err := e.withOpenInputs(ctx, book)
	if err != nil {
		return engine.Result{}, err
	}
	machine := e.machine()
	options := engine.Options{Overrides: e.overridesFor(book), Plan: e.expected}
	if e.verb == act {
		options.Approval = e.rule // a preview waits for nobody
		if options.Plan, err = e.confirmed(ctx, machine, book, open, options); err != nil {
			return engine.Result{}, err
		}
	}
	e.watch.begin(book.Name+" on "+book.Target.Name, e.verb != act)
	defer e.watch.end()
	if e.verb == act {
		e.watch.estimate(ctx, e.journal, e.usual, sameRunbook(book.Name))
	}
	if e.verb != act {
		return e.preview(ctx, machine, open, book, options)
	}
	if open != nil {
		e.watch.recall(open.History)
	}
	result, err := retryWhileHeld(ctx, e.watch, e.waitForLease, func() (engine.Result, error) {
		return machine.Run(ctx, book, options)
	})
	e.app.expire(ctx, e.retention, e.journal, e.clock, result.Run)
	return e.undecidedIfUnreachable(book.Target, result, err)
}

// machine is the engine of the invocation.
func (e *invocation) machine() *engine.Engine {
	machine := e.app.engine(e.journal, e.clock, e.event)
	machine.Approvals, machine.Rehearsal = e.from, e.scenario
	return machine
}

// event shows what happens, and how a plan is approved that is waited for.
func (e *invocation) event(event engine.Event) { e.asking(e.watch, e.watch.event)(event) }

// openRun is the run that a run would resume, which the target's lease names; nil when
// it names none, or none that can be read, which is for the engine to refuse.
func (e *invocation) openRun(ctx context.Context, target runbook.Target) *journal.Record {
	peeked, err := e.journal.Peek(ctx, target.ID)
	if err != nil || peeked.Open == nil {
		return nil
	}
	found, err := journal.FindOpen(ctx, e.journal, target.ID, peeked.Open)
	if err != nil {
		return nil
	}
	return found.Record
}

// preview asks and changes nothing. An open run of the target is named in the
// result.
func (e *invocation) preview(
	ctx context.Context, machine *engine.Engine, open *journal.Record, book runbook.Runbook, options engine.Options,
) (engine.Result, error) {
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

// retryWhileHeld repeats what needs a lease while another runner holds it, for a time.
func retryWhileHeld(
	ctx context.Context, watch *watch, patience time.Duration, call func() (engine.Result, error),
) (engine.Result, error) {
	began, told := watch.clock.Now(), false
	for {
		asked := watch.clock.Now()
		result, err := call()
		var held *journal.HeldError
		if !errors.As(err, &held) || watch.clock.Since(began) >= patience {
			watch.app.observation.leased(asked.Sub(began), err)
			return result, err
		}
		if !told {
			watch.wait(fmt.Sprintf("Waiting for the lease for at most %s: %v.", patience, held), 0)
			told = true
		}
		watch.wait(fmt.Sprintf("Still waiting for the lease, %s so far, for at most %s: held by %s.",
			watch.clock.Since(began).Round(time.Second), patience, held.Holder), waitEvery)
		if err := clock.Sleep(ctx, watch.clock, leasePause); err != nil {
			return result, err
		}
	}
}
