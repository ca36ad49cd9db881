package recreatepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

func (r *recreation) drain() runbook.Step {
	preconditions := []runbook.Guard{r.standInReady()}
	return runbook.Step{
		Name: "drain",
		Changes: fmt.Sprintf("cordon all nodes of pool %s, then evict their pods, for at most %s in all", r.Pool,
			time.Duration(r.DrainDeadline)),
		Guards:        allGuards(),
		Preconditions: preconditions,
		Budget:        time.Duration(r.DrainDeadline) + 5*time.Minute,
		PermitLasts:   time.Duration(r.DrainDeadline) + 2*time.Minute,
		Observe:       observe(r, (*reader).draining, drained),
		Apply: r.do(func(rd *reader) error {
			nodes, expected := rd.sourceNodes()
			left, err := rd.empty(nodes, expected, preconditions)
			if err != nil || left.Complete() {
				return err
			}
			return rd.run.Warn(rd.ctx,
				"the drain's deadline of %s has passed with pods left; the deletion goes on without them: %s",
				time.Duration(r.DrainDeadline), left.Blockers())
		}),
		Rollback: r.uncordon(),
	}
}

// draining is what tells how far the drain is.
type draining struct {
	nodes []kube.Node
	// pods are those that a drain would evict or wait for.
	pods []string
}

func (rd *reader) draining() draining {
	nodes, expected := rd.sourceNodes()
	seen, cluster := draining{nodes: nodes}, rd.kubernetes()
	rd.attempt(func() (err error) {
		seen.pods, err = cluster.PodsToEvict(rd.ctx, nodes, expected)
		return err
	})
	return seen
}

func drained(seen draining) runbook.Observation {
	for _, node := range seen.nodes {
		if !node.Unschedulable {
			return runbook.NotStarted("node %s is not cordoned", node.Name)
		}
	}
	if len(seen.pods) > 0 {
		return runbook.NotStarted("%d pods are left on the nodes", len(seen.pods))
	}
	return runbook.Done("all %d nodes are cordoned and empty", len(seen.nodes))
}

// empty cordons nodes, all before the first eviction, and evicts their pods while the
// preconditions of the step hold: nodes are read afresh for them, ARM as it was at the
// step's beginning.
func (rd *reader) empty(nodes []kube.Node, expected *kube.ExpectedNodes,
	preconditions []runbook.Guard) (kube.DrainResult, error) {
	cluster := rd.kubernetes()
	rd.attempt(func() error { return cluster.Cordon(rd.ctx, nodes...) })
	if rd.err != nil {
		return kube.DrainResult{}, rd.err
	}
	return cluster.Drain(rd.ctx, nodes, kube.DrainOptions{
		Deadline: time.Duration(rd.DrainDeadline), Expected: expected, Progress: rd.run.Report,
		Precondition: func(ctx context.Context) error { return hold(ctx, rd.run, preconditions) },
	})
}

// hold asks preconditions again within a step. Its error says that some of the step may
// have happened; what follows from it, the next attempt tells.
func hold(ctx context.Context, run runbook.Run, preconditions []runbook.Guard) error {
	for _, guard := range preconditions {
		if finding := guard.Evaluate(ctx, run); finding.Answer != runbook.AnswerHolds {
			return apierr.New(apierr.Transient, "precondition failed: %s: %s", guard.Name, finding.Reason)
		}
	}
	return nil
}

// uncordon takes back the cordons of this run; those of people stay.
func (r *recreation) uncordon() *runbook.Step {
	return &runbook.Step{
		Name:    "uncordon",
		Changes: "take back the cordons of this run",
		Observe: observe(r, func(rd *reader) []kube.Node { return rd.cordonedBy(rd.run.ID()) }, uncordoned),
		Apply:   r.do(func(rd *reader) error { return rd.uncordon(rd.cordonedBy(rd.run.ID())) }),
	}
}

// cordonedBy are the source's nodes that a run cordoned.
func (rd *reader) cordonedBy(run string) []kube.Node {
	nodes, _ := rd.sourceNodes()
	return slices.DeleteFunc(nodes, func(node kube.Node) bool { return node.CordonedBy != run })
}

func uncordoned(nodes []kube.Node) runbook.Observation {
	if len(nodes) > 0 {
		return runbook.NotStarted("node %s is cordoned by this run", nodes[0].Name)
	}
	return runbook.Done("no node is cordoned by this run")
}

// uncordon takes back the cordons of nodes that runs of ours cordoned.
func (rd *reader) uncordon(nodes []kube.Node) error {
	cluster := rd.kubernetes()
	for _, node := range nodes {
		rd.attempt(func() error { return cluster.Uncordon(rd.ctx, node, node.CordonedBy) })
	}
	return rd.err
}
