package removeoperator

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	if in.Bundle != "" { // the same file, wherever the run is gone on with
		path, err := filepath.Abs(in.Bundle)
		if err != nil {
			return runbook.Runbook{}, fmt.Errorf("--bundle: %w", err)
		}
		in.Bundle = path
	}
	r := &removal{in: in, Operator: &cleanup.Operator{
		Cluster: world.Cluster, Group: in.Group, Namespace: in.Namespace, Selectors: in.Selectors, Finalizers: in.Finalizers,
		Bundle: in.Bundle,
	}}
	steps := append([]runbook.Step{r.dropConversions(), r.export()}, r.removals()...)
	if in.StopOperator {
		steps = slices.Insert(steps, 0, r.stopOperator())
	}
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: in.Budget.Duration,
		Target: runbook.Target{Kind: "operator clean-up", ID: world.ClusterID + "/" + in.Group, Name: in.Group},
		Guards: r.guards(),
		Steps:  steps,
		Checks: r.checks(),
		Remaining: func(func(string) bool) string {
			return "what was exported is in " + cmp.Or(in.Bundle, "the run's exports")
		},
	}, nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it: guards decide from recorded readings, and
// nothing is read.
func Replayed(in Inputs, target runbook.Target) (runbook.Runbook, error) {
	return New(World{ClusterID: strings.TrimSuffix(target.ID, "/"+in.Group)}, in)
}

func (r *removal) guards() []runbook.Guard {
	guards := []runbook.Guard{
		r.somethingLeft(), r.namespaceExpendable(), r.operatorGone(r.in.StopOperator), r.cascadeContained(),
	}
	if len(r.in.Selectors) > 0 {
		guards = slices.Insert(guards, 1, r.selectorsSelect())
	}
	return guards
}

// removal is the runbook at work.
type removal struct {
	*cleanup.Operator
	in   Inputs
	left runbook.Shared[*cleanup.Reading]
}

// read returns what is left, read once in a round.
func (r *removal) read(ctx context.Context, run runbook.Run) (*cleanup.Reading, error) {
	return r.left.Get(ctx, run, r.ReadState)
}

// seen is what the guards and the observation of a step have just seen.
func (r *removal) seen() *cleanup.Reading { return cmp.Or(r.left.Last(), &cleanup.Reading{}) }
