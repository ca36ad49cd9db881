package recreatepool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
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
}

// New makes the runbook for one pool.
func New(world World, in Inputs) (runbook.Runbook, error) {
	if err := in.Validate(); err != nil {
		return runbook.Runbook{}, err
	}
	r := &recreation{World: world, Inputs: in}
	guards := []runbook.Guard{r.clusterExists(), r.clusterRecoverable(), r.otherPoolsServing(), r.poolWedged(), r.wedgeEvidence()}
	return runbook.Runbook{
		Name: Name, Version: "1", Inputs: in, Budget: time.Duration(in.Budget),
		Target:    runbook.Target{Kind: "AKS agent pool", ID: strings.ToLower(in.poolID()), Name: in.Cluster + "/" + in.Pool},
		Preflight: []runbook.Step{r.clearLeftovers()},
		Guards:    guards,
		Steps: []runbook.Step{
			r.settleCluster(), r.snapshot(), r.addStandIn(), r.drain(),
			r.deletePool(), r.recreate(), r.retireStandIn(), r.reconcileCluster(),
		},
		Checks:    []runbook.Guard{r.poolMatchesSnapshot(), r.nodesReady(), r.noStandInLeft(), r.nodesAsFound(), r.clusterSucceeded()},
		Remaining: r.leaves,
	}, nil
}

// leaves says what a run that had to stop after the deletion leaves standing.
func (r *recreation) leaves(done func(step string) bool) string {
	if done("retire-stand-in") {
		return ""
	}
	return fmt.Sprintf("the stand-in pool (%s) keeps serving", standInName(r.poolID(), ""))
}

// allGuards are asked again before each change up to the deletion.
var allGuards = []string{"cluster-exists", "cluster-recoverable", "other-pools-serving", "pool-wedged", "wedge-evidence"}

// guardsWithoutPool are those that can still be asked when the pool is gone.
var guardsWithoutPool = []string{"cluster-exists", "cluster-recoverable", "other-pools-serving"}

// recreation is the runbook at work on one pool.
type recreation struct {
	World
	Inputs
	// The cluster as it was seen in a round, or that it wasn't there: guards of
	// one round share a reading.
	round   int
	sighted azure.Cluster
	missing error
	// kept is the ETag of the pool that the snapshot was compared with, and the
	// round in which it was.
	kept      string
	keptRound int
	// refusedSince is when the Activity Log began to be refused; zero when it
	// isn't.
	refusedSince time.Time
}

// cluster reads the cluster, once in a round.
func (r *recreation) cluster(ctx context.Context, run runbook.Run) (azure.Cluster, error) {
	if r.round == run.Round() && (r.sighted.ID != "" || r.missing != nil) {
		return r.sighted, r.missing
	}
	cluster, err := r.Azure.Cluster(ctx, r.ResourceGroup, r.Cluster)
	gone := err != nil && apierr.ClassOf(err) == apierr.Missing
	if err != nil && !gone {
		return azure.Cluster{}, err
	}
	r.round, r.sighted, r.missing = run.Round(), cluster, err
	return cluster, err
}

// nodeSelector selects the nodes of a pool by the label that AKS sets.
func nodeSelector(pool string) string { return "kubernetes.azure.com/agentpool=" + pool }

// nodes lists the nodes of a pool; of all pools for an empty name.
func (r *recreation) nodes(ctx context.Context, pool string) ([]kube.Node, error) {
	cluster, err := r.Kubernetes(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster's API: %w", err)
	}
	selector := ""
	if pool != "" {
		selector = nodeSelector(pool)
	}
	return cluster.Nodes(ctx, selector)
}

// serving counts the nodes on which pods can be placed and run.
func serving(nodes []kube.Node) int {
	count := 0
	for _, node := range nodes {
		if node.Serving() {
			count++
		}
	}
	return count
}

// RoleKey is the node label, or the tag, by which pools are chosen by role.
const RoleKey = "aro-hcp.azure.com/role"

// PoolsOfRole names the pools of a cluster whose node label or tag RoleKey has a
// value, stand-ins aside.
func PoolsOfRole(cluster azure.Cluster, role string) []string {
	var pools []string
	for _, pool := range cluster.Pools {
		if !isStandIn(pool) && role != "" && (pool.Labels[RoleKey] == role || pool.Tags[RoleKey] == role) {
			pools = append(pools, pool.Name)
		}
	}
	return pools
}
