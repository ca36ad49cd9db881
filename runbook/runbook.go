package runbook

import (
	"context"
	"fmt"
	"time"

	"salve/internal/permit"
)

// Runbook is a named recipe for one target.
type Runbook struct {
	// Name and Version identify the recipe; a new version is a new meaning.
	Name, Version string
	Target        Target
	Posture       Posture
	// Inputs are what the recipe was made from; they are journaled, and a resumed
	// run is made from them again. They must hold no secret.
	Inputs any
	// Budget is the time that a run may take in all.
	Budget time.Duration
	// Leaves says what is left standing when a run has to stop after the point of
	// no return, such as "the stand-in pool keeps serving"; it may ask which
	// steps are done. May be nil.
	Remaining func(done func(step string) bool) string
	// Before are steps that tidy up what an earlier run left. They come before
	// the guards, and each is skipped when it observes that it is done.
	Preflight []Step
	Guards    []Guard
	Steps     []Step
	// Checks are asked of freshly observed state at the end. Unlike guards they
	// are all asked, and none can be overridden.
	Checks []Guard
}

// Target is the one thing that a run acts on.
type Target struct {
	// Kind is a noun such as "AKS agent pool".
	Kind string `json:"kind"`
	// ID is stable and compared byte for byte: an ARM ID is lower-cased first.
	ID string `json:"id"`
	// Name is short, for people.
	Name string `json:"name"`
}

// Permit is proof, minted by the engine alone, that a step's guards hold now
// and that the lease is still ours. Every mutating call takes one.
type Permit = permit.Permit

// Guard is one question about the world.
type Guard struct {
	Name string
	// Asks is the question in words.
	Question string
	// Binding guards can't be overridden.
	NotOverridable bool
	// Evaluate looks and answers. It returns within ctx's deadline, never
	// changes the world, and answers Unknown when it can't see.
	Evaluate func(ctx context.Context, run Run) Finding
}

// Run is what a guard or a step sees of the run that it belongs to.
type Run interface {
	ID() string
	// Round grows whenever the world has to be looked at afresh. Within one
	// round guards may share a reading.
	Round() int
	// Note writes a value to the journal, durably, under a name.
	Note(ctx context.Context, name string, value any) error
	// Recall reads the newest value of a name back from the journal; false when
	// there is none.
	Recall(name string, into any) (bool, error)
	// ReadBack reads the newest value of a name from where the journal is kept,
	// verifying the record: what it gives has survived being written.
	ReadBack(ctx context.Context, name string, into any) (bool, error)
	// Warn journals and shows a problem that doesn't stop the run.
	Warn(ctx context.Context, format string, args ...any) error
	// Report shows progress. It is not kept.
	Report(Progress)
}

// OperationNote is the name under which a step notes the resume token of the
// long-running operation that its change began. It is forgotten when the outcome
// of the attempt is known or the next intent is written, so that a token never
// serves another attempt.
const OperationNote = "operation"

// Progress is a passing word on how far a step is.
type Progress struct {
	Text string `json:"text"`
	// Details are lines below the text, such as one for each node.
	Details []string `json:"details,omitempty"`
}

// Validate finds mistakes of a runbook's author: names missing or given twice,
// guards that a step names and the runbook lacks, steps that can't act.
func (r Runbook) Validate() error {
	if r.Name == "" || r.Target.ID == "" {
		return fmt.Errorf("runbook %q: name and target ID are needed", r.Name)
	}
	guards := map[string]bool{}
	for _, guard := range r.Guards {
		if guard.Name == "" || guard.Evaluate == nil || guards[guard.Name] {
			return fmt.Errorf("runbook %q: guard %q has no name, no evaluation, or stands there twice", r.Name, guard.Name)
		}
		guards[guard.Name] = true
	}
	steps := map[string]bool{}
	for _, step := range append(append([]Step{}, r.Preflight...), r.Steps...) {
		if steps[step.Name] {
			return fmt.Errorf("runbook %q: step %q stands there twice", r.Name, step.Name)
		}
		steps[step.Name] = true
		if err := step.validate(guards); err != nil {
			return fmt.Errorf("runbook %q: %w", r.Name, err)
		}
	}
	return nil
}

// PermitFrom gives the permit that a step's context carries; outside of a step the
// zero Permit, which authorizes nothing.
func PermitFrom(ctx context.Context) Permit { return permit.FromContext(ctx) }
