package armdeployment

import (
	"context"
	"fmt"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// deploy is the step that counts. The run is past return once it was started: a deployment can't
// be taken back, only made again.
func (d *deployment) deploy() runbook.Step {
	return runbook.Step{
		Name: "deploy", Changes: "what the template describes, in " + d.where(), Irreversible: true,
		Guards: []string{"scope-there", "nothing-active"}, Preconditions: []runbook.Guard{d.groupThere()},
		Inputs: func(runbook.Run) (any, error) {
			return map[string]any{"deployment": d.Deployment, "content": d.content, "complete": d.order.Complete}, nil
		},
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			there, err := d.now(ctx)
			if err != nil {
				return runbook.NotObserved(err)
			}
			return d.observed(run, there)
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			body, err := d.order.body(d.tags(run))
			if err != nil {
				return apierr.New(apierr.Terminal, "%w", err)
			}
			operation, err := d.Azure.Deploy(ctx, d.name(), body)
			if err != nil {
				return d.order.MaskError(err)
			}
			return operation.Note(ctx, run)
		},
		Await: d.await,
	}
}

func (d *deployment) where() string {
	if d.ResourceGroup == "" {
		return "subscription " + d.Subscription
	}
	return "resource group " + d.ResourceGroup
}

// observed tells how far the deployment is. One of the same run with another
// content, from before the template was corrected, is waited for and then
// replaced.
func (d *deployment) observed(run runbook.Run, there sight) runbook.Observation {
	switch {
	case there.Deployment == nil:
		return runbook.NotStarted("ARM has no deployment of this name")
	case !there.ours(run):
		return runbook.NotStarted("the deployment of this name was started by %s", starter(there.Tags[runTag]))
	case there.Active():
		return runbook.InFlight("the deployment is %s", there.State)
	case there.Tags[contentTag] != d.content:
		return runbook.NotStarted("the deployment there has another content").Partially()
	case there.State == succeeded:
		return runbook.Done("the deployment succeeded")
	}
	return runbook.NotStarted("the deployment is %s: %s", there.State, there.Failure).Partially()
}

// await polls the operation that started the deployment, and then reads the
// deployment: it says more of what failed than the operation does.
func (d *deployment) await(ctx context.Context, run runbook.Run) error {
	run.Report(runbook.Progress{Text: "ARM is deploying " + d.Deployment})
	_ = d.Azure.AwaitNoted(ctx, run, azure.DeploymentID(d.Subscription, d.name())) // how it ended, the deployment says
	there, err := d.ended(ctx)
	switch {
	case err != nil:
		return err
	case there.Deployment == nil || !there.ours(run):
		return apierr.New(apierr.Conflict, "deployment %q was replaced or deleted while it was waited for", d.Deployment)
	case there.Tags[contentTag] != d.content: // from before the template was corrected: the next attempt replaces it
		return apierr.New(apierr.Conflict, "deployment %q is %s with another content", d.Deployment, there.State)
	case there.State != succeeded:
		return apierr.New(apierr.Terminal, "deployment %q is %s: %s", d.Deployment, there.State, there.Failure)
	}
	return nil
}

// ended reads the deployment until it is no longer active.
func (d *deployment) ended(ctx context.Context) (there sight, _ error) {
	err := backoff.Poll(ctx, d.Clock, func(ctx context.Context) (_ bool, err error) {
		there, err = d.now(ctx)
		return there.Deployment == nil || !there.Active(), err
	})
	if err != nil {
		return there, fmt.Errorf("waiting for deployment %q: %w", d.Deployment, err)
	}
	return there, nil
}
