package recreatepool

import (
	"context"
	"fmt"
	"time"

	"salve/kube"
	"salve/runbook"
)

func (r *recreation) drain() runbook.Step {
	return runbook.Step{
		Name:          "drain",
		Changes:       fmt.Sprintf("cordon all nodes of pool %s, then evict their pods, for at most %s in all", r.Pool, time.Duration(r.DrainDeadline)),
		Guards:        allGuards,
		Preconditions: []runbook.Guard{r.standInReady()},
		Budget:        time.Duration(r.DrainDeadline) + 5*time.Minute,
		PermitLasts:   time.Duration(r.DrainDeadline) + 2*time.Minute,
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			return r.observeDrain(ctx)
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			nodes, err := r.nodes(ctx, r.Pool)
			if err != nil {
				return err
			}
			drained, err := r.drainNodes(ctx, run, nodes)
			if err != nil || drained.Complete() {
				return err
			}
			return run.Warn(ctx, "the drain's deadline of %s has passed with pods left; the deletion goes on without them: %s",
				time.Duration(r.DrainDeadline), drained.Blockers())
		},
		Rollback: r.uncordon(),
	}
}

func (r *recreation) observeDrain(ctx context.Context) runbook.Observation {
	nodes, err := r.nodes(ctx, r.Pool)
	if err != nil {
		return runbook.NotObserved(err)
	}
	for _, node := range nodes {
		if !node.Unschedulable {
			return runbook.NotStarted("node %s is not cordoned", node.Name)
		}
	}
	cluster, err := r.Kubernetes(ctx)
	if err != nil {
		return runbook.NotObserved(err)
	}
	pods, err := cluster.PodsToEvict(ctx, nodes, nil)
	if err != nil {
		return runbook.NotObserved(err)
	}
	if len(pods) > 0 {
		return runbook.NotStarted("%d pods are left on the nodes", len(pods))
	}
	return runbook.Done("all nodes are cordoned and empty")
}

// drainNodes cordons nodes, all before the first eviction, and empties them.
func (r *recreation) drainNodes(ctx context.Context, run runbook.Run, nodes []kube.Node) (kube.DrainResult, error) {
	cluster, err := r.Kubernetes(ctx)
	if err != nil {
		return kube.DrainResult{}, err
	}
	if err := cluster.Cordon(ctx, nodes...); err != nil {
		return kube.DrainResult{}, err
	}
	return cluster.Drain(ctx, nodes, kube.DrainOptions{Deadline: time.Duration(r.DrainDeadline), Progress: run.Report})
}

// uncordon takes back the cordons of this run; those of people stay.
func (r *recreation) uncordon() *runbook.Step {
	return &runbook.Step{
		Name:    "uncordon",
		Changes: "take back the cordons of this run",
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			nodes, err := r.nodes(ctx, r.Pool)
			for _, node := range nodes {
				if node.CordonedBy == run.ID() {
					return runbook.NotStarted("node %s is cordoned by this run", node.Name)
				}
			}
			if err != nil {
				return runbook.NotObserved(err)
			}
			return runbook.Done("no node is cordoned by this run")
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			return r.uncordonSource(ctx, run.ID())
		},
	}
}

// uncordonSource takes back the cordons that a run made on the source's nodes.
func (r *recreation) uncordonSource(ctx context.Context, run string) error {
	if run == "" {
		return nil
	}
	cluster, err := r.Kubernetes(ctx)
	if err != nil {
		return err
	}
	nodes, err := r.nodes(ctx, r.Pool)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if err := cluster.Uncordon(ctx, node, run); err != nil {
			return err
		}
	}
	return nil
}
