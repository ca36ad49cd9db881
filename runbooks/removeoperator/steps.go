package removeoperator

import (
	"context"
	"slices"
	"time"

	"salve/kube/leftovers"
	"salve/runbook"
)

// acting are the guards that are asked again right before the first deletions.
var acting = []string{"something-left", "namespace-expendable", "cascade-contained"}

// stopping is how long the operator may take to stop. Its lease has to lapse too.
const stopping = 5 * time.Minute

func (r *removal) stopOperator() runbook.Step {
	return runbook.Step{
		Name: "stop-operator", Changes: "scale the operator's workloads to zero", Guards: acting, Budget: stopping,
		Observe: func(ctx context.Context, _ runbook.Run) (runbook.Observation, error) {
			running, err := r.Running(ctx)
			return running.Observation(), err
		},
		Apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
			return r.Stop(ctx, permit, run)
		},
		Await: func(ctx context.Context, run runbook.Run) error {
			return r.AwaitStopped(ctx, run.Report)
		},
		Undo: &runbook.Step{
			Name: "start-operator", Changes: "scale the operator's workloads back to what they had",
			Observe: func(ctx context.Context, run runbook.Run) (runbook.Observation, error) {
				stopped, err := r.StoppedBy(ctx, run)
				return stopped.Observation(), err
			},
			Apply: func(ctx context.Context, permit runbook.Permit, run runbook.Run) error {
				return r.StartAgain(ctx, permit, run)
			},
		},
	}
}

func (r *removal) export() runbook.Step {
	return runbook.Step{
		Name: "export", Changes: "nothing: write every CRD and custom resource of " + r.Group + " to a bundle, and read it back",
		Guards: acting, Needs: []runbook.Guard{r.operatorGone(false)},
		Observe: leftovers.ObserveKept,
		Apply: func(ctx context.Context, _ runbook.Permit, run runbook.Run) error {
			return r.Keep(ctx, run, r.seen, r.in.Bundle)
		},
	}
}

// task removes a part of what is left. What does not go in time is left to the
// steps after it. Guards and needs are those of its own, await may be nil.
type task struct {
	name, changes string
	part          func(*leftovers.Reading) leftovers.Part
	guards        []string
	needs         []runbook.Guard
	apply         func(context.Context, runbook.Permit, runbook.Run) error
	await         func(context.Context, runbook.Run) error
}

// step acts only while the operator is gone and the bundle there.
func (r *removal) step(t task) runbook.Step {
	step := runbook.Step{
		Name: t.name, Changes: t.changes, NoReturn: true, PermitLasts: r.in.Budget.Duration, Apply: t.apply,
		Guards: t.guards, Needs: slices.Concat(t.needs, []runbook.Guard{r.bundleKept(), r.operatorGone(false)}),
		Inputs: func(run runbook.Run) (any, error) { return t.part(r.seen).Input(run) },
		Observe: func(ctx context.Context, run runbook.Run) (runbook.Observation, error) {
			left, err := r.look(ctx, run)
			if err != nil {
				return runbook.Observation{}, err
			}
			return t.part(left).Observation(), nil
		},
	}
	if t.await != nil {
		step.Await = func(ctx context.Context, run runbook.Run) error {
			return r.Within(ctx, r.in.CascadeWait.Duration, func(ctx context.Context) error { return t.await(ctx, run) })
		}
	}
	return step
}
