package recreatepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// Name is the runbook's name on the command line and in journals.
const Name = "aks-recreate-pool"

// World is what the runbook acts on.
type World struct {
	Azure *azure.Client
	// Kubernetes connects to the cluster. It is asked only once there is reason
	// to look at nodes: a healthy cluster costs one call to ARM.
	Kubernetes func(context.Context) (*kube.Cluster, error)
	Clock      clock.Clock
	// OpenRun names the run that the lease of a target says is open, wherever its
	// record is; empty when none is. When it is nil no stand-in of another run is
	// taken for abandoned.
	OpenRun func(ctx context.Context, target string) (string, error)
}

// New makes the runbook for one pool.
func New(world World, in Inputs) (runbook.Runbook, error) {
	if err := in.Validate(); err != nil {
		return runbook.Runbook{}, err
	}
	r := &recreation{World: world, Inputs: in}
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: time.Duration(in.Budget), Target: in.target(),
		Preflight: []runbook.Step{r.clearLeftovers()},
		Guards: []runbook.Guard{
			r.clusterExists(), r.clusterRecoverable(), r.otherPoolsServing(), r.poolWedged(), r.wedgeEvidence(),
		},
		Steps: []runbook.Step{
			r.settleCluster(), r.takeSnapshot(), r.addStandIn(), r.drain(),
			r.deletePool(), r.recreate(), r.retireStandIn(), r.reconcileCluster(),
		},
		Checks: []runbook.Guard{
			r.poolMatchesSnapshot(), r.nodesReady(), r.noStandInLeft(), r.nodesAsFound(), r.clusterSucceeded(),
		},
		Remaining: r.remaining,
	}, nil
}

// allGuards are asked again before each change up to the deletion.
func allGuards() []string { return append(guardsWithoutPool(), "pool-wedged", "wedge-evidence") }

// guardsWithoutPool are those that can still be asked when the pool is gone.
func guardsWithoutPool() []string {
	return []string{"cluster-exists", "cluster-recoverable", "other-pools-serving"}
}

// recreation is the runbook at work on one pool.
type recreation struct {
	World
	Inputs
	seen runbook.Shared[armReading]
	kept runbook.Shared[kept]
	// deniedSince is when the Activity Log began to be refused; zero when it isn't.
	deniedSince time.Time
}

// remaining says what a run that had to stop after the deletion leaves standing.
func (r *recreation) remaining(done func(step string) bool) string {
	if done("retire-stand-in") {
		return ""
	}
	name := standInName(r.poolID(), "")
	if pool, found := leftover(r.seen.Last().Cluster, r.Inputs); found {
		name = pool.Name
	}
	return fmt.Sprintf("the stand-in pool (%s) keeps serving", name)
}

func (in Inputs) target() runbook.Target {
	return runbook.Target{Kind: "AKS agent pool", ID: strings.ToLower(in.poolID()), Name: in.Cluster + "/" + in.Pool}
}
