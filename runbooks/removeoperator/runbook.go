package removeoperator

import (
	"cmp"
	"context"
	"slices"

	"salve/kube"
	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// Name is the runbook's name on the command line and in journals.
const Name = "remove-operator"

// World is what the runbook acts on.
type World struct {
	Cluster *kube.Cluster
	// ClusterID is the cluster's identity, as Cluster.ID gives it.
	ClusterID string
}

// New makes the runbook for what one operator left.
func New(world World, in Inputs) (runbook.Runbook, error) {
	if err := in.Validate(); err != nil {
		return runbook.Runbook{}, err
	}
	r := &removal{in: in, Operator: &cleanup.Operator{
		Cluster: world.Cluster, Group: in.Group, Namespace: in.Namespace, Selectors: in.Selectors, Finalizers: in.Finalizers,
	}}
	steps := append([]runbook.Step{r.dropConversions(), r.export()}, r.removals()...)
	if in.StopOperator {
		steps = slices.Insert(steps, 0, r.stopOperator())
	}
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: in.Budget.Duration,
		Target:    runbook.Target{Kind: "operator leftovers", ID: world.ClusterID + "/" + in.Group, Name: in.Group},
		Guards:    []runbook.Guard{r.somethingLeft(), r.namespaceExpendable(), r.operatorGone(in.StopOperator), r.cascadeContained()},
		Steps:     steps,
		Checks:    r.checks(),
		Remaining: func(func(string) bool) string { return "what was exported is in " + cmp.Or(in.Bundle, "the journal") },
	}, nil
}

// removal is the runbook at work.
type removal struct {
	*cleanup.Operator
	in   Inputs
	left runbook.Shared[*cleanup.Reading]
}

// look reads what is left, once in a round.
func (r *removal) look(ctx context.Context, run runbook.Run) (*cleanup.Reading, error) {
	return r.left.Get(ctx, run, r.Look)
}

// seen is what the guards and the observation of a step have just seen.
func (r *removal) seen() *cleanup.Reading { return cmp.Or(r.left.Last(), &cleanup.Reading{}) }
