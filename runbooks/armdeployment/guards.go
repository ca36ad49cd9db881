package armdeployment

import (
	"context"

	"salve/internal/apierr"
	"salve/runbook"
)

// scopeThere asks whether there is a place to deploy to: ARM would say the same of
// a missing resource group and of one that the caller may not see.
func (d *deployment) scopeThere() runbook.Guard {
	return runbook.Guard{Name: "scope-there", Question: "is the resource group there?",
		Evaluate: func(ctx context.Context, _ runbook.Run) runbook.Finding {
			if d.ResourceGroup == "" {
				return runbook.Yes("%s", "subscription "+d.Subscription+" is deployed to")
			}
			location, err := d.Azure.GroupLocation(ctx, d.ResourceGroup)
			switch {
			case err != nil && apierr.ClassOf(err) == apierr.Missing:
				return runbook.No("there is no resource group %q in subscription %s: "+
					"create it, or ask for the right to see it", d.ResourceGroup, d.Subscription).
					WithOutcome(runbook.Failed)
			case err != nil:
				return runbook.Unknown(err)
			}
			return runbook.Yes("resource group %q is in %s", d.ResourceGroup, location)
		}}
}

// nothingActive asks whether the deployment's name is free. One that another run
// began is not waited for: nobody knows here what it deploys.
func (d *deployment) nothingActive() runbook.Guard {
	return ask("nothing-active", "is no deployment of this name active that another run started?", d.read,
		func(_ context.Context, run runbook.Run, there sight) runbook.Finding {
			if there.Deployment == nil {
				return runbook.Yes("ARM has no deployment of this name")
			}
			evidence := d.evidence(there)
			if there.Active() && !there.ours(run) {
				return runbook.No("a deployment of this name is %s, started by %s", there.State, starter(there)).
					WithEvidence(evidence).WithOutcome(runbook.Deferred)
			}
			return runbook.Yes("the last deployment of this name is %s", there.State).WithEvidence(evidence)
		})
}

// deployed asks whether the deployment that succeeded is this run's, with this
// content.
func (d *deployment) deployed() runbook.Guard {
	return ask("deployed", "has this deployment, with this content, succeeded?", d.read,
		func(_ context.Context, run runbook.Run, there sight) runbook.Finding {
			switch {
			case there.Deployment == nil:
				return runbook.No("ARM has no deployment of this name").WithOutcome(runbook.NeedsAttention)
			case !there.ours(run):
				return runbook.No("the deployment of this name was started by %s", starter(there)).WithEvidence(d.evidence(there)).
					WithOutcome(runbook.NeedsAttention)
			case there.Tags[contentTag] != d.content:
				return runbook.No("the deployment is %s with another content", there.State).WithEvidence(d.evidence(there)).
					WithOutcome(runbook.NeedsAttention)
			case there.State != succeeded:
				return runbook.No("the deployment is %s", there.State).WithEvidence(d.evidence(there)).
					WithOutcome(runbook.NeedsAttention)
			}
			return runbook.Yes("%s", "ARM's deployment "+d.Deployment+" succeeded").WithEvidence(d.evidence(there))
		})
}

func (d *deployment) evidence(there sight) runbook.Evidence {
	return runbook.NewEvidence("ARM deployments/"+d.Deployment, there.CorrelationID, d.Clock.Now(), map[string]any{
		"state": there.State, "run": there.Tags[runTag], "content": there.Tags[contentTag],
	})
}

func starter(there sight) string {
	if run := there.Tags[runTag]; run != "" {
		return "run " + run
	}
	return "somebody else"
}

// decision answers from what was read and from what the run holds.
type decision[T any] func(context.Context, runbook.Run, T) runbook.Finding

// ask makes a guard of a reading and a decision.
func ask[T any](
	name, question string, read func(context.Context, runbook.Run) (T, error), decide decision[T],
) runbook.Guard {
	evaluate := func(ctx context.Context, run runbook.Run) runbook.Finding {
		seen, err := read(ctx, run)
		if err != nil {
			return runbook.Unknown(err)
		}
		return decide(ctx, run, seen)
	}
	return runbook.Guard{Name: name, Question: question, Evaluate: evaluate}
}
