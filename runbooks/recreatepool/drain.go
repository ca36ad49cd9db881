package recreatepool

import (
	"context"
	"fmt"
	"time"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

func (r *recreation) drain() runbook.Step {
	preconditions := []runbook.Guard{r.standInReady()}
	return runbook.Step{
		Name: "drain",
		Changes: fmt.Sprintf("cordon all nodes of pool %s, then evict their pods as budgets allow, for at most %s in all; "+
			"a blocked drain: %s", r.Pool, r.drainDeadline(), r.BlockedDrain()),
		Guards: allGuards(), Preconditions: preconditions,
		Budget: r.drainDeadline() + 5*time.Minute, PermitLasts: r.drainDeadline() + 2*time.Minute,
		Observe: runbook.Observe(r.readDraining, drained),
		Apply: runbook.Act(r.readSource, func(ctx context.Context, run runbook.Run, seen withNodes) error {
			left, err := r.empty(ctx, run, r.Pool, seen, preconditions)
			if err != nil {
				return err
			}
			return r.drainEnded(ctx, run, left)
		}),
		Rollback: &runbook.Step{
			Name: "uncordon", Changes: "take back the cordons of this run",
			Observe: runbook.Observe(r.readSource, uncordoned),
			Apply: runbook.Act(r.readSource, func(ctx context.Context, _ runbook.Run, seen withNodes) error {
				return seen.api.Uncordon(ctx, seen.Run, seen.Nodes...)
			}),
		},
	}
}

// drainEnded decides about a drain whose deadline may have passed with pods left. Those that are ending AKS waits for.
func (r *recreation) drainEnded(ctx context.Context, run runbook.Run, left kube.DrainResult) error {
	by := blockedBy(left)
	if err := r.noteBlocked(ctx, run, by); err != nil {
		return err
	}
	switch {
	case by != nil:
		return r.blocked(ctx, run, r.Pool, *by)
	case !left.Complete():
		return run.Warn(ctx, "the drain's deadline of %s has passed, and pods are still ending: %s", r.drainDeadline(),
			left.Blockers())
	}
	return nil
}

// draining is what tells how far the drain is.
type draining struct {
	withNodes
	// pods are those that a drain would evict or wait for.
	pods []string
}

func (r *recreation) readDraining(ctx context.Context, run runbook.Run) (draining, error) {
	seen, err := r.readSource(ctx, run)
	if err != nil {
		return draining{}, err
	}
	pods, err := seen.api.PodsToEvict(ctx, seen.Nodes, seen.expected)
	return draining{seen, pods}, err
}

func drained(seen draining) runbook.Observation {
	for _, node := range seen.Nodes {
		if !node.Unschedulable {
			return runbook.NotStarted("node %s is not cordoned", node.Name)
		}
	}
	if len(seen.pods) > 0 {
		return runbook.NotStarted("%d pods are left on the nodes", len(seen.pods))
	}
	return runbook.Done("all %d nodes are cordoned and empty", len(seen.Nodes))
}

func uncordoned(seen withNodes) runbook.Observation {
	for _, node := range seen.Nodes {
		if node.CordonedBy == seen.Run {
			return runbook.NotStarted("node %s is cordoned by this run", node.Name)
		}
	}
	return runbook.Done("no node is cordoned by this run")
}

// empty cordons nodes of a pool, all before the first eviction, and evicts their pods while the preconditions
// of the step hold: nodes are read afresh for them, ARM as it was at the step's beginning.
func (r *recreation) empty(
	ctx context.Context, run runbook.Run, pool string, seen withNodes, preconditions []runbook.Guard,
) (kube.DrainResult, error) {
	if err := seen.api.Cordon(ctx, seen.Nodes...); err != nil {
		return kube.DrainResult{}, err
	}
	return seen.api.Drain(ctx, seen.Nodes, kube.DrainOptions{
		Deadline: r.drainDeadline(), Expected: seen.expected, Progress: r.reportDrain(run, pool, seen.Nodes),
		Precondition: func(ctx context.Context) error { return hold(ctx, run, preconditions) },
	})
}

// hold asks preconditions again within a step. Its error says that some of the step may have
// happened; what follows from it, the next attempt tells.
func hold(ctx context.Context, run runbook.Run, preconditions []runbook.Guard) error {
	for _, guard := range preconditions {
		if finding := guard.Evaluate(ctx, run); finding.Answer != runbook.AnswerHolds {
			return apierr.New(apierr.Transient, "precondition failed: %s: %s", guard.Name, finding.Reason)
		}
	}
	return nil
}
