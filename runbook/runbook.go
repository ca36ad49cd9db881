package runbook

import (
	"context"
	"encoding/json"
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
	// Budget is the time that a run may take in all; required.
	Budget time.Duration
	// Limits are the numbers among the inputs that bound what a run may do, such as how
	// many pods it deletes. Whoever approves its plan may lower them. May be nil.
	Limits map[string]int
	// Lowered makes the same runbook with limits lowered; required with Limits.
	Lowered func(limits map[string]int) (Runbook, error)
	// Locks are the IDs of further things that the run acts on. Their leases are
	// taken together with the target's, in one order for all runs.
	Locks []string
	// Parallel is how many steps may be at work at a time; zero means one.
	Parallel int
	// KeepGoing: after a step has failed, those that don't come after it still begin.
	KeepGoing bool
	// KeepOpen: a run that failed is not closed, and nothing of it is rolled back: it
	// is resumed with the steps that are missing.
	KeepOpen bool
	// Success is how a run ends whose checks all hold; empty means Remediated.
	Success Outcome
	// Remaining says what is left standing when a run has to stop after the point of
	// no return, such as "the stand-in pool keeps serving"; it may ask which
	// steps are done. May be nil.
	Remaining func(done func(step string) bool) string
	// Preflight are steps that tidy up what an earlier run left. They come before
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
// and that the lease is still ours. It travels in the context of Apply, and no client
// that Salve builds sends a change without it.
type Permit = permit.Permit

// Guard is one question about the world.
type Guard struct {
	Name string
	// Question is what the guard asks, in words.
	Question string
	// NotOverridable guards pass only when they hold.
	NotOverridable bool
	// OnResume guards are asked again whenever the run is resumed, before its next step.
	OnResume bool
	// Prepare makes, on the machine that runs, what Evaluate asks about, such as programs
	// that are built. It is called right before Evaluate, under the run's leases, when a
	// run begins and, with OnResume, when it is resumed: never for a preview or for a
	// step. It changes nothing of the target. After its error the answer is Unknown. Nil
	// where nothing is to be made.
	Prepare func(ctx context.Context, run Run) error
	// PrepareBudget bounds Prepare; required with it.
	PrepareBudget time.Duration
	// Evaluate observes and answers. It returns within ctx's deadline, never
	// changes the world, and answers Unknown when it can't observe.
	Evaluate func(ctx context.Context, run Run) Finding
	// decide is what Ask has made of the decision: it takes a recorded reading. missing
	// names the first field that a reading lacks; problem is why readings can't be
	// recorded, empty when they can.
	decide  func(reading json.RawMessage) (Finding, error)
	missing func(reading json.RawMessage) string
	problem string
}

// Run is what a guard or a step sees of the run that it belongs to.
type Run interface {
	ID() string
	// Round grows whenever the world has to be observed afresh. Within one
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
	// Export keeps data beside the record and never in it: whole objects, which may hold
	// secrets. The record holds its digest.
	Export(ctx context.Context, name string, data []byte) error
	// ReadExport gives the newest export of a name, verified against the record.
	ReadExport(ctx context.Context, name string) ([]byte, error)
	// Step tells how far a step is by the journal; zero when it never began.
	Step(name string) StepStatus
	// Override is the reason that an operator gave for going on though a guard does not
	// hold; empty when none was given.
	Override(guard string) string
	// Warn journals and shows a problem that doesn't stop the run.
	Warn(ctx context.Context, format string, args ...any) error
	// Summarize says what the step that asks did; it is kept as the reason of its
	// outcome when it is done.
	Summarize(format string, args ...any)
	// Report shows progress. It is not kept.
	Report(Progress)
}

// StepStatus is how far a step is by the journal.
type StepStatus struct {
	// Attempts counts the intents, also those of earlier processes.
	Attempts int
	// Done: the step is done. Skipped: it was left out, and nobody has done it.
	Done, Skipped bool
	// Unsettled: an attempt was announced of which it is not known what became of it.
	Unsettled bool
	// Reason is that of the newest outcome.
	Reason string
}

// OperationNote is the name under which a step notes the resume token of the
// long-running operation that its change began. It is forgotten when the outcome
// of the attempt is known or the next intent is written, so that a token never
// serves another attempt.
const OperationNote = "operation"

// Progress is a passing word on how far a step is.
type Progress struct {
	Text string `json:"text"`
	// Waiting: the step can only wait, and the text says what for. It is shown at once, as every wait is.
	Waiting bool `json:"-"`
	// Details are lines below the text, such as one for each node.
	Details []string `json:"details,omitempty"`
	// Pools are pools of nodes as the step sees them. They are for the eye: nothing is decided by them.
	Pools []PoolNodes `json:"pools,omitempty"`
}

// PoolNodes is how many nodes of a pool serve.
type PoolNodes struct {
	Pool string `json:"pool"`
	// Role is what the pool is for, where that says more than its name.
	Role string `json:"role,omitempty"`
	// Serving of the Nodes that there are to be are Ready and schedulable.
	Serving int `json:"serving"`
	Nodes   int `json:"nodes"`
	// Gone: the pool was deleted.
	Gone bool `json:"gone,omitempty"`
}

// PermitFrom gives the permit that a step's context carries; outside of a step the
// zero Permit, which authorizes nothing.
func PermitFrom(ctx context.Context) Permit { return permit.FromContext(ctx) }
