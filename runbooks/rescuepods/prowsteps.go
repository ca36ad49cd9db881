package rescuepods

import (
	"context"
	"time"

	"salve/internal/prow/cluster"
	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// prowSteps are those that a Prow's pods need besides.
func (r *rescue) prowSteps() []runbook.Step {
	if r.prow == nil {
		return nil
	}
	return []runbook.Step{r.releaseCrier()}
}

// releaseCrier is the exception of G10. A crier that was released with the plank that erred holds strays too, and looks
// for pods where they belong once it is rolled back: nobody else would ever release them.
func (r *rescue) releaseCrier() runbook.Step {
	return runbook.Step{
		Name: "release-crier", Guards: r.whileDeleting(), Budget: 30 * time.Minute,
		Preconditions: []runbook.Guard{r.recordKept()},
		Changes: "take crier's finalizer, and no other, from pods that are deleted and whose job is gone, or complete " +
			"and stored by crier",
		// A run that is resumed looks again: crier may be done with more of them by then.
		Stale: func(runbook.Run) (bool, error) { return true, nil },
		Observe: runbook.Observe(r.releasable, func(pods []stranded.Pod) runbook.Observation {
			if len(pods) > 0 {
				return runbook.NotStarted("held by crier, which is done with them: %d", len(pods))
			}
			return runbook.Done("crier holds none that it is done with")
		}),
		Apply: runbook.Act(r.releasable, func(ctx context.Context, _ runbook.Run, pods []stranded.Pod) error {
			return r.Release(ctx, pods, cluster.PodFinalizer)
		}),
	}
}

// releasable are the recorded pods that crier alone holds, and is done with.
func (r *rescue) releasable(ctx context.Context, run runbook.Run) (pods []stranded.Pod, _ error) {
	now, err := r.status(ctx, run, all)
	if err != nil {
		return nil, err
	}
	state, err := r.prowState(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, pod := range now.Stuck {
		if pod.HeldBy(cluster.PodFinalizer) && state.Releasable(pod.UID, pod.Name) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}
