package recreatepool

import (
	"cmp"
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
	// Kubernetes connects to the cluster. It is asked only once there is reason to look at nodes: a
	// healthy cluster costs one call to ARM.
	Kubernetes func(context.Context) (*kube.Cluster, error)
	Clock      clock.Clock
	// OpenRun names the run that the lease of a target says is open, wherever its record is; empty
	// when none is. When it is nil no stand-in of another run is taken for abandoned.
	OpenRun func(ctx context.Context, target string) (string, error)
}

// New makes the runbook for one pool.
func New(world World, in Inputs) (runbook.Runbook, error) {
	if err := in.Validate(); err != nil {
		return runbook.Runbook{}, err
	}
	r := &recreation{World: world, Inputs: in}
	return r.runbook(), nil
}

// Replayed is the runbook for its decisions alone, as a replay makes it: guards decide from recorded readings, and
// nothing is read.
func Replayed(in Inputs, target runbook.Target) (runbook.Runbook, error) {
	book, err := New(World{}, in)
	if err == nil && book.Target.ID != target.ID {
		err = fmt.Errorf("inputs are of target %q, the record is of %q", book.Target.ID, target.ID)
	}
	if err != nil {
		return runbook.Runbook{}, err
	}
	return book, nil
}

func (r *recreation) runbook() runbook.Runbook {
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: r.Inputs, Budget: r.Budget.Duration, Remaining: r.remaining,
		Target:    runbook.Target{Kind: "AKS agent pool", ID: strings.ToLower(r.poolID()), Name: r.Cluster + "/" + r.Pool},
		Preflight: []runbook.Step{r.clearLeftovers()},
		Guards: []runbook.Guard{
			r.clusterExists(),
			r.guard("cluster-recoverable", "is the cluster in a state that recovery can start from?", clusterRecoverable),
			r.guard("other-pools-serving", "does the pool exist, and has every other pool nodes?", otherPoolsServing),
			r.guard("pool-wedged", "has the pool's last operation failed, or does it not come to an end?", poolWedged),
			ask(r.Inputs, "wedge-evidence", "is the pool's scale set corrupted: do its writes fail, or has a machine no IP "+
				"configuration?", r.readWedge, wedgeEvidence),
			r.budgetsRespected(),
		},
		Steps: []runbook.Step{
			r.settleCluster(), r.takeSnapshot(), r.addStandIn(), r.drain(),
			r.deletePool(), r.recreate(), r.retireStandIn(), r.reconcileCluster(),
		},
		Checks: []runbook.Guard{
			ask(r.Inputs, "pool-matches-snapshot", "is the pool as the snapshot says, field by field?", r.readPool,
				poolMatchesSnapshot),
			r.nodesReady(),
			r.guard("no-stand-in-left", "is the stand-in gone?", noStandInLeft),
			ask(r.Inputs, "nodes-as-found", "is every node as schedulable as it was before?", r.readOthers, nodesAsFound),
			r.guard("cluster-succeeded", "is the cluster Succeeded, or kept from it by another pool only?", clusterSucceeded),
		},
	}
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
	seen runbook.Shared[arm]
	// deniedSince is when the Activity Log began to be refused; zero when it isn't.
	deniedSince time.Time
}

// remaining says what a run that had to stop after the deletion leaves standing.
func (r *recreation) remaining(done func(step string) bool) string {
	if done("retire-stand-in") {
		return ""
	}
	pool := leftover(reading{Inputs: r.Inputs, arm: r.seen.Last()})
	return fmt.Sprintf("the stand-in pool (%s) keeps serving", cmp.Or(pool.Name, standInName(r.poolID(), "")))
}
