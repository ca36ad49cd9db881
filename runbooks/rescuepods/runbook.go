package rescuepods

import (
	"context"
	"time"

	"salve/kube"
	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// Name is the runbook's name on the command line and in journals.
const Name = "rescue-stranded-pods"

// World is what the runbook acts on.
type World struct {
	Cluster *kube.Cluster
	// ClusterID tells the cluster from all others: see kube.Cluster.ID.
	ClusterID string
}

// New makes the runbook for the pods of a selector.
func New(world World, in Inputs) (runbook.Runbook, error) {
	if err := in.Validate(); err != nil {
		return runbook.Runbook{}, err
	}
	selector, err := kube.ParseSelector(in.Selector) // in order: one lock, however it is written
	r := &rescue{Search: search(world, in), in: in}
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: 2*time.Hour + in.ReplacedWithin.Duration,
		Target: runbook.Target{Kind: "stranded pods", ID: world.ClusterID + "/pods/" + selector.String(), Name: in.Selector},
		Guards: []runbook.Guard{
			r.summary(), r.namespacesExist(), r.podsElsewhere(), r.cannotStart(), r.sourceStopped(), r.withinMax(),
		},
		Steps:  []runbook.Step{r.record(), r.deleteFirst(), r.deleteRest(), r.awaitReplacements()},
		Checks: []runbook.Guard{r.recordedGone(), r.runningUntouched(), r.jobsAccountedFor()},
	}, err
}

// Watch waits until pods are stranded, which it tells by *stranded.Error, and
// says a line for each change. Any other error says that it can't be seen.
func Watch(ctx context.Context, world World, in Inputs, say func(line string)) error {
	if err := in.Validate(); err != nil {
		return err
	}
	return search(world, in).AwaitStranded(ctx, say)
}

func search(world World, in Inputs) *stranded.Search {
	return &stranded.Search{Cluster: world.Cluster, Selector: in.Selector, Expected: in.Expected}
}

// rescue is the runbook at work.
type rescue struct {
	*stranded.Search
	in   Inputs
	seen runbook.Shared[*stranded.Reading]
}

// read returns all pods of the selector, read once in a round.
func (r *rescue) read(ctx context.Context, run runbook.Run) (*stranded.Reading, error) {
	return r.seen.Get(ctx, run, r.ReadState)
}
