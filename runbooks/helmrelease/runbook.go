package helmrelease

import (
	"context"
	"time"

	"salve/internal/clock"
	"salve/internal/helm"
	"salve/kube"
	"salve/runbook"
)

// Name is the runbook's name in journals.
const Name = "helm-release"

// World is what the runbook acts on.
type World struct {
	Kubernetes *kube.Cluster
	Clock      clock.Clock
}

// New makes the runbook for one release.
func New(world World, in Inputs, order Order) (runbook.Runbook, error) {
	if err := in.validate(); err != nil {
		return runbook.Runbook{}, err
	}
	if err := order.validate(); err != nil {
		return runbook.Runbook{}, err
	}
	return newRelease(world, in, order).book(), nil
}

// Replayed makes the runbook for its decisions alone, as a replay makes it. What was released is not in the record, and
// no decision takes it.
func Replayed(in Inputs, _ runbook.Target) (runbook.Runbook, error) {
	if err := in.validate(); err != nil {
		return runbook.Runbook{}, err
	}
	return (&release{Inputs: in, order: Order{Timeout: time.Minute}}).book(), nil
}

// release is the runbook at work.
type release struct {
	World
	Inputs
	order Order
	helm  *helm.Client
}

func newRelease(world World, in Inputs, order Order) *release {
	return &release{
		World: world, Inputs: in, order: order, helm: &helm.Client{Cluster: world.Kubernetes, Namespace: in.Namespace},
	}
}

// permitLasts is for hooks before and after, the wait, and a rollback with as many.
func (o Order) permitLasts() time.Duration { return 6*o.Timeout + 5*time.Minute }

func (r *release) book() runbook.Runbook {
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: r.Inputs, Budget: 2*r.order.permitLasts() + 10*time.Minute,
		Target: runbook.Target{
			Kind: "Helm release", ID: r.Cluster + "/" + r.Namespace + "/" + r.Release, Name: r.Namespace + "/" + r.Release,
		},
		Guards: []runbook.Guard{r.clusterReachable(), r.nothingPending(), r.chartUnmoved(), r.chartRenders()},
		Steps:  []runbook.Step{r.applyNamespaces(), r.applyRelease()},
		Checks: []runbook.Guard{r.releaseDeployed()},
		Remaining: func(func(string) bool) string {
			return "what Helm has applied stays in the cluster; helm history " + r.Release + " -n " + r.Namespace + " shows it"
		},
	}
}

func (r *release) helmOrder(run runbook.Run) helm.Order {
	return helm.Order{
		Name: r.Release, Chart: r.order.Chart, Values: r.order.Values, Run: run.ID(), Timeout: r.order.Timeout,
		Rollback: r.order.Rollback,
	}
}

// history is the release's, secrets in the words of Helm masked.
func (r *release) history(ctx context.Context) ([]helm.Revision, error) {
	revisions, err := r.helm.History(ctx, r.Release)
	for i := range revisions {
		revisions[i].Description = r.order.mask(revisions[i].Description)
	}
	return revisions, r.order.maskError(err)
}
