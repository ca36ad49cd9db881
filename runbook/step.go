package runbook

import (
	"context"
	"fmt"
	"time"
)

// Step is one idempotent change. The engine takes it through this protocol:
//
//	Guards, Preconditions      must hold, right before the change
//	        │
//	     Observe ── done ─────────────────────────────▶ outcome: done
//	        │  └─── in flight ──────────────┐
//	   not started                          │
//	        │                               │
//	  intent is journaled, permit minted    │
//	        │                               ▼
//	      Apply ──────── accepted ───────▶ Await ─────▶ outcome: done
//	        │                               │
//	        └── error ──────────────────────┴─ error ─▶ outcome: failed or unknown
//	                                                          │
//	            Observe, before anything else ◀── the next attempt, or a resume
//
// An intent without an outcome, or with the outcome unknown, is always observed
// before the step is attempted again: a change that happened is never repeated.
// After a refused attempt RetryWith is asked whether other inputs are worth another.
type Step struct {
	Name string
	// Changes says in words what the step changes.
	Changes string
	// After names the steps that must be done before this one begins. Nil means the
	// step before it in the list; Start stands for the beginning of the run.
	After []string
	// Skip is why the step is left out of this run; empty when it is not. What comes
	// after it goes on, and it never counts as done.
	Skip string
	// Idle steps only wait: they take no place of Runbook.Parallel.
	Idle bool
	// Guards names those of the runbook's guards that must hold right before.
	Guards []string
	// Preconditions are further conditions of the permit; no override passes over
	// them.
	Preconditions []Guard
	// Inputs gives what the change will be made with, for plan and intent; it
	// must be encodable as JSON and hold no secret. May be nil.
	Inputs func(Run) (any, error)
	// Observe tells how far the change is, from the world alone. It changes
	// nothing.
	Observe func(context.Context, Run) Observation
	// Apply begins the change. Its context carries the permit. Where the change is a
	// long-running operation it notes the resume token under OperationNote and
	// returns. An error without a class may mean that the change happened.
	Apply func(context.Context, Run) error
	// Await waits until the change is observed to be complete. Nil when Apply's
	// return is the end of it. It changes nothing.
	Await func(context.Context, Run) error
	// RetryWith is asked after a refused attempt whether another one with other
	// inputs is worth it; it notes those inputs. Nil means no.
	RetryWith func(context.Context, Run, error) (bool, error)
	// Retries repeats attempts that ended in one of these failures. Nil means none.
	Retries *Retries
	// Stale is asked of a step that is done when a run is resumed: whether it has to be
	// done again, because what it hands on was not kept. Nil means no.
	Stale func(Run) (bool, error)
	// Rollback takes the change back while the point of no return lies ahead. Nil
	// when there is nothing to take back.
	Rollback *Step
	// Irreversible marks the point of no return: after its intent nothing is rolled
	// back any more.
	Irreversible bool
	// Passive steps change nothing in the world: they record, or wait. A run that did no
	// other may end as one that had nothing to do.
	Passive bool
	// Budget bounds one attempt, waiting included; zero leaves it to the run's.
	Budget time.Duration
	// PermitLasts is how long the permit is good for; zero means two minutes.
	PermitLasts time.Duration
	// Grace is how long the step's code may take to return after its context has
	// ended; zero means a minute. Code that takes longer is left behind, and what
	// became of the change is unknown.
	Grace time.Duration
}

// Retries repeats a step's failed attempts. The step takes no place meanwhile.
type Retries struct {
	// Count bounds the further attempts of one process.
	Count int
	// Between is the pause before each.
	Between time.Duration
	// When tells the failures that are worth another attempt; required.
	When func(error) bool
}

// Start in Step.After stands for the beginning of the run.
const Start = "(start)"

// State is how far a step's change is.
type State string

const (
	// StateNotStarted means: the change has not happened and is not happening.
	StateNotStarted State = "not-started"
	// StateInFlight means: the change was accepted and goes on; only waiting is left.
	StateInFlight State = "in-flight"
	// StateDone means: the change has happened.
	StateDone State = "done"
	// StateUndecidable means: the world does not tell. An operator has to.
	StateUndecidable State = "undecidable"
)

// Observation is what a step's Observe saw, or that it could not. It is made by
// NotStarted, InFlight, Done, Undecidable or NotObserved; the zero Observation was
// not observed.
type Observation struct {
	State  State  `json:"state"`
	Reason string `json:"reason"`
	// Partial: some of the change has happened, though not all of it is under way.
	// StateNotStarted is then no proof that nothing was done.
	Partial bool `json:"partial,omitempty"`
	// Question is what an operator has to answer; only with StateUndecidable.
	Question string `json:"question,omitempty"`
	// Err is why nothing was observed; State is empty then.
	Err error `json:"-"`
}

// NotStarted means: the change has not happened and is not happening.
func NotStarted(format string, args ...any) Observation {
	return Observation{State: StateNotStarted, Reason: fmt.Sprintf(format, args...)}
}

// InFlight means: the change goes on; only waiting is left.
func InFlight(format string, args ...any) Observation {
	return Observation{State: StateInFlight, Reason: fmt.Sprintf(format, args...)}
}

// Done means: the change has happened.
func Done(format string, args ...any) Observation {
	return Observation{State: StateDone, Reason: fmt.Sprintf(format, args...)}
}

// Undecidable means: the world does not tell whether the change happened; the question is
// for an operator.
func Undecidable(question, format string, args ...any) Observation {
	return Observation{State: StateUndecidable, Question: question, Reason: fmt.Sprintf(format, args...)}
}

// NotObserved means: the world could not be read.
func NotObserved(err error) Observation { return Observation{Err: err} }

// Partially says that some of the change has happened.
func (o Observation) Partially() Observation {
	o.Partial = true
	return o
}

// Failure is why there is no observation; nil when there is one.
func (o Observation) Failure() error {
	switch o.State {
	case StateNotStarted, StateInFlight, StateDone, StateUndecidable:
		return o.Err
	}
	if o.Err != nil {
		return o.Err
	}
	return fmt.Errorf("the step observed nothing: state %q", o.State)
}
