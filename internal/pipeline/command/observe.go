package command

import (
	"context"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// didNotHappen is the exit code by which a step's observe command says that the step has
// not done its work. Nothing ends with it by accident, as with 1.
const didNotHappen = 10

// Observes tells whether the step has a command that tells what became of it.
func (a *Action) Observes(step *pipeline.Step) bool { return step.Shell.Observe.Value != "" }

// Observe runs that command. It gets what the step gets, and hands on in its stead. What it says is not what the step
// said, unless the step declares that its standard output is handed on.
func (a *Action) Observe(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	observing := *attempt
	observing.Wanted = nil
	outcome, ending, err := a.run(ctx, &observing, attempt.Step.Shell.Observe.Value, attempt.Variables)
	switch {
	case err != nil:
		return rollout.Outcome{Result: journal.Unknown, Reason: err.Error()}
	case outcome.Unread != nil:
		outcome.Reason = also("its outputs can't be read: "+outcome.Unread.Error(), outcome.Reason)
	case outcome.Result == journal.Failure && ending.Code != didNotHappen || ending.Stopped:
		outcome.Result = journal.Unknown
	}
	return outcome
}
