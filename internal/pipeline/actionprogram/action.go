package actionprogram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/internal/pipeline/process"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// Action runs the steps of one action by its program.
type Action struct {
	Program Program
	// Folder is the pipeline's: a program runs there.
	Folder string
	// Environment is what the runner has, as NAME=value; Pass names what of it programs get besides what every
	// program needs.
	Environment []string
	Pass        []string
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
	Clock clock.Clock
}

const (
	// looking bounds an observation and a plan: they read.
	looking = 2 * time.Minute
	// working bounds an apply in a step without a timeout.
	working = time.Hour
)

// Capabilities say nothing: an attempt that was cut off is observed, and where that does not tell an operator is asked.
func (a *Action) Capabilities() rollout.Capabilities { return rollout.Capabilities{} }

// Check finds what keeps the program from being run.
func (a *Action) Check(_ context.Context, step *pipeline.Step) error {
	if err := a.Program.unchanged(); err != nil {
		return fmt.Errorf("the program of action %s: %w", step.Action.Value, err)
	}
	return nil
}

// Clear ends the processes that an attempt of a killed runner has left.
func (a *Action) Clear(ctx context.Context, run string, step pipeline.StepID) (string, error) {
	ended, err := process.EndMarked(ctx, a.Clock, mark(run, step), a.Grace)
	return process.List(ended), err
}

// mark is carried by all processes of a step of a run.
func mark(run string, step pipeline.StepID) string { return run + "/" + step.String() }

// Run applies what is observed to be lacking, and observes again.
func (a *Action) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	before, err := ask[observation](ctx, a, observe, attempt)
	switch {
	case err != nil:
		return refused(fmt.Sprintf("what is there could not be observed, and nothing was begun: %v", err))
	case before.State == stateUnknown:
		return refused("whether its work is done can't be seen, and nothing was begun: " + attempt.Mask(before.Reason))
	case before.State == stateDone:
		return done(attempt, "it was done already", before, applied{})
	}
	made, err := ask[applied](ctx, a, apply, attempt)
	if err != nil {
		return cutOff(err)
	}
	if made.Result != resultDone {
		became := journal.Unknown
		if made.Result == resultFailed {
			became = journal.Failure
		}
		return rollout.Outcome{Result: became, Reason: attempt.Mask(made.Reason), Said: made.Reason}
	}
	after, err := ask[observation](ctx, a, observe, attempt)
	switch {
	case err != nil:
		return rollout.Outcome{Result: journal.Unknown, Reason: fmt.Sprintf(
			"it says that it is done, and that could not be observed: %v", err)}
	case after.State != stateDone:
		return rollout.Outcome{Result: journal.Unknown, Reason: fmt.Sprintf(
			"it says that it is done, and is observed as %s: %s", after.State, attempt.Mask(after.Reason))}
	}
	return done(attempt, "done, and observed", after, made)
}

// Observes is true of all steps: each program can tell.
func (a *Action) Observes(*pipeline.Step) bool { return true }

// Observe asks the program what became of an attempt.
func (a *Action) Observe(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	seen, err := ask[observation](ctx, a, observe, attempt)
	switch {
	case err != nil:
		return rollout.Outcome{Result: journal.Unknown, Reason: err.Error()}
	case seen.State == stateDone:
		return done(attempt, "observed", seen, applied{})
	case seen.State == stateNotDone:
		return rollout.Outcome{Result: journal.Failure, Reason: attempt.Mask(seen.Reason)}
	}
	return rollout.Outcome{Result: journal.Unknown, Reason: attempt.Mask(seen.Reason)}
}

// Preview says what apply would change.
func (a *Action) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	seen, err := ask[observation](ctx, a, observe, attempt)
	switch {
	case err != nil:
		return "", err
	case seen.State == stateUnknown:
		return "", &rollout.UnseenError{Reason: seen.Reason}
	case seen.State == stateDone:
		return "done already: nothing would be changed", nil
	}
	would, err := ask[planned](ctx, a, plan, attempt)
	if err != nil {
		return "", err
	}
	lines := []string{"not done: " + seen.Reason}
	for _, one := range would.Changes {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("would %s %s: %s", one.Kind, one.Resource, one.Summary), ": "))
	}
	if len(would.Changes) == 0 {
		lines = append(lines, "its plan names no change")
	}
	return strings.Join(lines, "\n"), nil
}

func refused(reason string) rollout.Outcome {
	return rollout.Outcome{Result: journal.Failure, Refused: true, Reason: reason}
}

// cutOff is an apply that gave no answer: it may have happened, unless it was never started.
func cutOff(err error) rollout.Outcome {
	var never *notStartedError
	if errors.As(err, &never) {
		return refused(err.Error())
	}
	return rollout.Outcome{Result: journal.Unknown, Reason: err.Error()}
}

// done hands on what was observed, and what apply alone could tell.
func done(attempt *rollout.Attempt, how string, seen observation, made applied) rollout.Outcome {
	outputs := map[string]rollout.Output{}
	for _, all := range []map[string]any{made.Outputs, seen.Outputs} {
		for name, value := range all {
			outputs[name] = rollout.Output{Value: value}
		}
	}
	secrets := maps.Clone(made.SecretOutputs)
	if secrets == nil {
		secrets = map[string]any{}
	}
	maps.Copy(secrets, seen.SecretOutputs)
	for name, value := range secrets {
		outputs[name] = rollout.Output{Value: value, Secret: true}
	}
	if seen.Reason != "" {
		how += ": " + attempt.Mask(seen.Reason)
	}
	return rollout.Outcome{Result: journal.Done, Reason: how, Said: how, Outputs: outputs}
}
