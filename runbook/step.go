package runbook

import (
	"context"
	"fmt"
	"time"
)

// Step is one idempotent change. The engine evaluates Guards and Needs, mints a
// permit, journals the intent, calls Apply, waits with Await, and journals the
// outcome.
type Step struct {
	Name string
	// Changes says in words what the step changes.
	Changes string
	// Guards names those of the runbook's guards that must hold right before.
	Guards []string
	// Needs are further conditions of the permit; they can't be overridden.
	Preconditions []Guard
	// Inputs gives what the change will be made with, for plan and intent; it
	// must be encodable as JSON and hold no secret. May be nil.
	Inputs func(Run) (any, error)
	// Observe tells how far the change is, from the world alone. It changes
	// nothing.
	Observe func(context.Context, Run) (Observation, error)
	// Apply begins the change. Where the change is a long-running operation it
	// notes the resume token under OperationNote and returns.
	Apply func(context.Context, Run) error
	// Await waits until the change is seen to be complete. Nil when Apply's
	// return is the end of it. It changes nothing.
	Await func(context.Context, Run) error
	// Amend is asked after a refused attempt whether another one with other
	// inputs is worth it; it notes those inputs. Nil means no.
	RetryWith func(context.Context, Run, error) (bool, error)
	// Undo takes the change back while the point of no return lies ahead. Nil
	// when there is nothing to take back.
	Rollback *Step
	// NoReturn marks the step after whose intent nothing is undone any more.
	Irreversible bool
	// Budget bounds one attempt, waiting included; zero leaves it to the run's.
	Budget time.Duration
	// PermitLasts is how long the permit is good for; zero means two minutes.
	PermitLasts time.Duration
}

// State is how far a step's change is.
type State string

const (
	// NotStarted: the change has not happened and is not happening.
	StateNotStarted State = "not-started"
	// InFlight: the change was accepted and goes on; only waiting is left.
	StateInFlight State = "in-flight"
	// Done: the change has happened.
	StateDone State = "done"
	// Undecidable: the world does not tell. A person has to.
	StateUndecidable State = "undecidable"
)

// Observation is what a step's Observe saw.
type Observation struct {
	State  State  `json:"state"`
	Reason string `json:"reason"`
	// Partial: some of the change has happened, though not all of it is under way.
	// NotStarted is then no proof that nothing was done.
	Partial bool `json:"partial,omitempty"`
	// Question is what a person has to answer; only with Undecidable.
	Question string `json:"question,omitempty"`
}

func (s Step) validate(guards map[string]bool) error {
	if s.Name == "" || s.Observe == nil || s.Apply == nil {
		return fmt.Errorf("step %q needs a name, Observe and Apply", s.Name)
	}
	for _, name := range s.Guards {
		if !guards[name] {
			return fmt.Errorf("step %q names guard %q, which the runbook does not have", s.Name, name)
		}
	}
	if s.Rollback != nil {
		return s.Rollback.validate(guards)
	}
	return nil
}
