package removeoperator

import (
	"context"
	"time"

	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// acting are the guards that are evaluated again right before the first deletions.
func acting() []string {
	return []string{"something-left", "namespace-expendable", "cascade-contained"}
}

// stopping is how long the operator may take to stop. Its lease has to lapse too.
const stopping = 5 * time.Minute

func (r *removal) stopOperator() runbook.Step {
	return runbook.Step{
		Name: "stop-operator", Changes: "scale the operator's workloads to zero", Guards: acting(), Budget: stopping,
		Observe: r.Stopped, Apply: r.Stop, Await: r.AwaitStopped,
		Rollback: &runbook.Step{
			Name: "start-operator", Changes: "scale the operator's workloads back to what they had",
			Observe: r.Started, Apply: r.StartAgain,
		},
	}
}

// dropConversions comes before the export: what the operator would have to convert
// can't be read until then.
func (r *removal) dropConversions() runbook.Step {
	converted := (*cleanup.Reading).ConversionPart
	return runbook.Step{
		Name:    "drop-conversions",
		Changes: "let nothing in namespace " + r.Namespace + " convert objects: they are given as they are stored",
		Guards:  acting(), Preconditions: []runbook.Guard{r.operatorGone(false)},
		Inputs: r.inputs(converted), Observe: r.observe("drop-conversions", converted),
		Apply: func(ctx context.Context, run runbook.Run) error {
			return r.DropConversions(ctx, run, r.seen().Definitions)
		},
		Rollback: &runbook.Step{
			Name: "convert-again", Changes: "let objects be converted as before",
			Observe: r.ConvertedAgain, Apply: r.ConvertAgain,
		},
	}
}

func (r *removal) export() runbook.Step {
	return runbook.Step{
		Name: "export", Passive: true,
		Changes: "nothing: write everything that will be deleted to a bundle, and read it back",
		Guards:  acting(), Preconditions: []runbook.Guard{r.operatorGone(false)},
		Observe: r.ObserveBackup,
		Apply: func(ctx context.Context, run runbook.Run) error {
			return r.Backup(ctx, run, r.seen())
		},
	}
}

// removing completes a step that removes a part of what is left. It acts only while
// the operator is gone and the bundle there. What does not go in time is left to the
// steps after it.
func (r *removal) removing(part part, step runbook.Step) runbook.Step {
	apply, await := step.Apply, step.Await
	step.Irreversible, step.PermitLasts = true, r.in.Budget.Duration
	step.Preconditions = append(step.Preconditions, r.bundleKept(), r.operatorGone(false))
	step.Inputs, step.Observe = r.inputs(part), r.observe(step.Name, part)
	step.Apply = func(ctx context.Context, run runbook.Run) error {
		if err := part(r.seen()).Begin(ctx, run, step.Name); err != nil {
			return err
		}
		return apply(ctx, run)
	}
	if await != nil {
		step.Await = func(ctx context.Context, run runbook.Run) error {
			return r.Within(ctx, r.in.CascadeWait.Duration, func(ctx context.Context) error { return await(ctx, run) })
		}
	}
	return step
}

// part is one of the things that are left.
type part = func(*cleanup.Reading) cleanup.Part

func (r *removal) inputs(part part) func(runbook.Run) (any, error) {
	return func(run runbook.Run) (any, error) { return part(r.seen()).Input(run) }
}

// observe says how far a step is that removes a part.
func (r *removal) observe(step string, part part) func(context.Context, runbook.Run) runbook.Observation {
	return func(ctx context.Context, run runbook.Run) runbook.Observation {
		left, err := r.read(ctx, run)
		if err != nil {
			return runbook.NotObserved(err)
		}
		return part(left).SinceBegun(run, step)
	}
}
