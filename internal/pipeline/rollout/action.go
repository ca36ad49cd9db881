package rollout

import (
	"context"
	"io"
	"time"

	"salve/internal/pipeline"
	"salve/journal"
)

// Action runs the steps of one kind. It is used by many goroutines at once.
type Action interface {
	Capabilities() Capabilities
	// Check finds, before any step begins, what would keep a step from being run.
	Check(ctx context.Context, step *pipeline.Step) error
	// Run makes one attempt. When ctx ends it stops as soon as it safely can.
	Run(ctx context.Context, attempt *Attempt) Outcome
	// Preview says what an attempt would do, and changes nothing.
	Preview(ctx context.Context, attempt *Attempt) (string, error)
}

// Capabilities are what the scheduler has to know of an action.
type Capabilities struct {
	// Repeatable: the action itself looks what became of an attempt that was cut
	// off, so that nobody has to be asked before the next one.
	Repeatable bool
	// Ignores are the fields of steps that the action has no use for: what it would do is known without them.
	Ignores []string
	// Idle: an attempt only waits, and takes nobody's place meanwhile.
	Idle bool
	// OwnTimeout: the action itself ends its attempts by the step's timeout, and needs time beyond it to take back what
	// was not done within.
	OwnTimeout bool
}

// Clearing is an action of which an attempt may leave something running when the
// program is killed. Clear ends what is left of a step, and says what that was.
type Clearing interface {
	Clear(ctx context.Context, run string, step pipeline.StepID) (string, error)
}

// Observing is an action that can find out what became of an attempt, of steps that say
// how.
type Observing interface {
	Observes(step *pipeline.Step) bool
	// Observe changes nothing. Its outcome is done, with what the step hands on; failed
	// when the step has not done its work; unknown when an operator has to be asked.
	Observe(ctx context.Context, attempt *Attempt) Outcome
}

// Attempt is one try at a step.
type Attempt struct {
	Run    string
	Step   *pipeline.Step
	Number int
	// Variables are the step's variables, with the outputs of other steps filled in.
	Variables []Variable
	// Wanted are the names of what other steps take from the step, sorted.
	Wanted []string
	// Log gets what the step says. Secrets are masked in it.
	Log io.Writer
	// Mask takes the secrets that are known, and more, out of a text. A text is cut only
	// after that: half a secret is not known as one.
	Mask func(text string, more ...string) string
	// Report shows how far the attempt is. It is not kept.
	Report func(text string)
	// Wait shows what the attempt waits for. It is not kept.
	Wait func(text string)
	// Begin writes down the run that does the step's work, durably, before it returns.
	Begin func(run string) error
	// Earlier is the run that did the work of an earlier attempt at the step; empty
	// where there was none. It may have done all of it: its attempt may have been cut
	// off before that was written down here.
	Earlier string
	// Since is when the step of which a Soak names the success was first done for
	// the revision that is rolled out; zero when it never was.
	Since time.Time
}

// Decode reads the fields of a step whose action has no type of its own, with all that was handed on filled in.
func (a *Attempt) Decode(into any) error {
	values := make([]any, 0, len(a.Variables))
	for _, one := range a.Variables {
		values = append(values, one.Value)
	}
	return a.Step.Decode(values, into)
}

// Outcome is what became of an attempt.
type Outcome struct {
	// Result is done, failed, unknown (cut off in the middle), or left out, which no
	// action says.
	Result journal.ResultKind
	// Refused: the attempt failed before anything of it was begun.
	Refused bool
	// Unread is why what it hands on can't be read, although its process ended well. What
	// it did is unknown then.
	Unread error
	// Reason says it in a sentence.
	Reason string
	// Said is the end of what the step said, and what it said before of the texts that
	// an automatedRetry looks for.
	Said string
	// Outputs are what the step hands on.
	Outputs map[string]Output
}

// Output is a value that a step hands on.
type Output struct {
	Value any
	// Secret values are not written anywhere.
	Secret bool
}
