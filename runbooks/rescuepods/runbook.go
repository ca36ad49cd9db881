package rescuepods

import (
	"context"
	"slices"
	"time"

	"salve/kube"
	"salve/runbook"
	"salve/runbooks/rescuepods/instance"
	"salve/runbooks/rescuepods/stranded"
)

// Name is the runbook's name on the command line and in journals.
const Name = "rescue-stranded-pods"

// World is what the runbook acts on.
type World struct {
	Cluster *kube.Cluster
	// ClusterID tells the cluster from all others: see kube.Cluster.ID.
	ClusterID string
	// User is who runs it, as the record of the run names them; empty when nobody knows.
	User string
	// Prow is the configuration that Inputs.Prow.Config names; nil for any other software.
	Prow *instance.Configuration
	// Apart is the time between the two readings that G2 takes; zero means a minute.
	Apart time.Duration
}

// New makes the runbook for the pods of a selector.
func New(world World, in Inputs) (runbook.Runbook, error) {
	in, err := in.completed(world.Prow)
	if err != nil {
		return runbook.Runbook{}, err
	}
	in.Prow = in.Prow.plannedBy(world.User)
	selector, err := kube.ParseSelector(in.Selector) // in order: one lock, however it is written
	if err != nil {
		return runbook.Runbook{}, err
	}
	r := &rescue{Search: search(world, in), in: in}
	if world.Prow != nil {
		if r.prow, err = newProwPods(world, in); err != nil {
			return runbook.Runbook{}, err
		}
	}
	target := runbook.Target{Kind: "stranded pods", ID: world.ClusterID + "/pods/" + selector.String(), Name: in.Selector}
	return r.book(target), nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it: guards decide from recorded readings, and
// nothing is read. What a Prow's configuration said stands in the inputs and in the readings.
func Replayed(in Inputs, target runbook.Target) (runbook.Runbook, error) {
	if err := in.Validate(); err != nil {
		return runbook.Runbook{}, err
	}
	r := &rescue{Search: search(World{}, in), in: in}
	if in.Prow.Config != "" {
		r.prow = &prowPods{Instance: &instance.Instance{}}
	}
	return r.book(target), nil
}

func (r *rescue) book(target runbook.Target) runbook.Runbook {
	in := r.in
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: 2*time.Hour + in.ReplacedWithin.Duration,
		Target: target,
		Guards: append([]runbook.Guard{
			r.summary(), r.namespacesExist(), r.podsElsewhere(), r.cannotStart(), r.sourceStopped(), r.withinMax(),
		}, r.prowGuards()...),
		Steps: slices.Concat([]runbook.Step{r.record(), r.deleteFirst(), r.deleteRest()}, r.prowSteps(),
			[]runbook.Step{r.awaitReplacements()}),
		Checks: []runbook.Guard{r.recordedGone(), r.runningUntouched(), r.jobsAccountedFor()},
	}
}

// Watch waits until pods are stranded, which it tells by *stranded.Error, and
// says a line for each change. Any other error says that it can't be seen.
func Watch(ctx context.Context, world World, in Inputs, say func(line string)) error {
	in, err := in.completed(world.Prow)
	if err != nil {
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
	// prow is nil for any other software.
	prow *prowPods
}

// read returns all pods of the selector, read once in a round.
func (r *rescue) read(ctx context.Context, run runbook.Run) (*stranded.Reading, error) {
	return r.seen.Get(ctx, run, func(ctx context.Context) (*stranded.Reading, error) {
		seen, err := r.ReadState(ctx)
		if err != nil || r.prow == nil {
			return seen, err
		}
		return seen, r.judge(ctx, run, seen)
	})
}
