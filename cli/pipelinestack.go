package cli

import (
	"context"
	"fmt"
	"strings"

	"salve/engine"
	"salve/internal/pipeline"
	"salve/internal/pipeline/deployment"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/deploymentstack"
)

// stackAction updates the deployment stacks of ARMStack steps: each by a run of a runbook, with a record of its own in
// the same journal. What a stack is to hold is written as it is for ARM steps.
type stackAction struct{ *deployAction }

// Run updates, or resumes what an earlier process began.
func (s *stackAction) Run(ctx context.Context, attempt *rollout.Attempt) rollout.Outcome {
	outcome, err := s.run(ctx, attempt)
	if err != nil {
		return rollout.Outcome{Result: journal.Failure, Reason: err.Error()}
	}
	return outcome
}

func (s *stackAction) run(ctx context.Context, attempt *rollout.Attempt) (rollout.Outcome, error) {
	world, in, order, _, err := s.asked(ctx, attempt)
	if err != nil {
		return rollout.Outcome{}, err
	}
	book, err := deploymentstack.New(world, in, order)
	if err != nil {
		return rollout.Outcome{}, err
	}
	done, err := s.done(ctx, attempt.Earlier, world, in, order)
	if err != nil {
		return rollout.Outcome{}, err
	}
	if done {
		return s.updated(ctx, world, in, attempt.Earlier)
	}
	result, err := s.app.stepEngine(attempt, s.kept, world.Clock).Run(ctx, book, engine.Options{})
	if err != nil {
		return rollout.Outcome{}, err
	}
	if result.Outcome == runbook.Remediated {
		return s.updated(ctx, world, in, result.Run)
	}
	reason, err := "", context.Cause(ctx)
	if err == nil {
		reason, err = deploymentstack.Failed(ctx, world, in, order, result.Run)
	}
	if err != nil || reason == "" {
		reason = fmt.Sprintf("%s: %s", result.Outcome, result.Reason)
	}
	return rollout.Outcome{Result: journal.Failure, Reason: fmt.Sprintf("%s (run %s)", reason, result.Run)}, nil
}

// done tells whether the run of an earlier attempt has made all of it: the process may have died before it could write
// that down.
func (s *stackAction) done(
	ctx context.Context, earlier string, world deploymentstack.World, in deploymentstack.Inputs,
	order deploymentstack.Order,
) (bool, error) {
	if earlier == "" {
		return false, nil
	}
	record, err := journal.Load(ctx, s.kept, earlier)
	if err != nil || record.Closed == nil || record.Closed.Outcome != runbook.Remediated {
		return false, err
	}
	return deploymentstack.Stands(ctx, world, in, order, earlier)
}

// updated is the outcome of an update that has succeeded.
func (s *stackAction) updated(
	ctx context.Context, world deploymentstack.World, in deploymentstack.Inputs, run string,
) (rollout.Outcome, error) {
	said, made, err := deploymentstack.Result(ctx, world, in)
	if err != nil {
		return rollout.Outcome{}, err
	}
	outputs, err := handedOn(made, "stack "+in.Stack)
	return rollout.Outcome{
		Result: journal.Done, Reason: fmt.Sprintf("updated stack %s, %s (run %s)", in.Stack, said, run), Outputs: outputs,
	}, err
}

// asked is what a step's stack is to hold, and where it is.
func (s *stackAction) asked(ctx context.Context, attempt *rollout.Attempt) (
	world deploymentstack.World, in deploymentstack.Inputs, order deploymentstack.Order, written *deployment.Order,
	err error,
) {
	step := attempt.Step
	if written, err = s.renderer.Order(ctx, step, attempt.Variables); err != nil {
		return world, in, order, nil, err
	}
	place, deploys, deployed, err := s.order(ctx, step, written)
	if err != nil {
		return world, in, order, nil, err
	}
	world = deploymentstack.World{Azure: place.Azure, Clock: place.Clock}
	in = deploymentstack.Inputs{
		Subscription: deploys.Subscription, ResourceGroup: deploys.ResourceGroup, Stack: s.stackName(step),
	}
	order = deploymentstack.Order{
		Order: deployed, OnUnmanage: step.ARM.Stack.OnUnmanage.Value, BypassOutOfSync: step.ARM.Stack.BypassOutOfSync,
	}
	return world, in, order, written, nil
}

// stackName is the same for the same step each time: a stack of another name would not know what this one has. It is
// another one in each resource group: a pipeline that is run for many regions may have its stacks in one subscription,
// and one of them must not let go what is of another.
func (s *stackAction) stackName(step *pipeline.Step) string {
	return stepName(step, s.serviceGroup+"\n"+step.Group.ResourceGroup.Value)
}

// Preview asks ARM what would change, and looks what the stack would let go.
func (s *stackAction) Preview(ctx context.Context, attempt *rollout.Attempt) (string, error) {
	world, in, order, written, err := s.asked(ctx, attempt)
	if err != nil {
		return "", orAbsent(err)
	}
	says, err := deploymentstack.Preview(ctx, world, in, order)
	if err != nil {
		return "", orAbsent(err)
	}
	return strings.Join(append(written.Shown(attempt.Variables), says), "\n"), nil
}
