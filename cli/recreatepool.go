package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// poolInputs are those of aks-recreate-pool, or of several runs of it.
type poolInputs struct {
	recreatepool.Inputs
	// Role selects pools instead of the one that the inputs name; may be empty.
	Role string `json:"-"`
}

// recreatePool provides aks-recreate-pool.
func recreatePool() Provider { return OnAKS(poolDefinition()) }

func poolDefinition() AKSDefinition[poolInputs] {
	return AKSDefinition[poolInputs]{
		Definition: Definition[AKS, poolInputs]{
			Name: recreatepool.Name, Short: "Recreate an AKS agent pool whose scale set rejects every write",
			Example:  "--subscription 5a1e0000-0000-4000-8000-000000000001 --resource-group fleet --cluster aks-1 --pool system",
			Defaults: poolInputs{Inputs: recreatepool.Defaults()},
			Flags: func(in *poolInputs, flags *pflag.FlagSet) {
				addSettings(flags, &in.Inputs)
				flags.StringVar(&in.Role, "role", "", "all pools whose label or tag "+recreatepool.RoleKey+
					" has this value, instead of --pool (NODEPOOL_TAG)")
			},
			Missing: func(in poolInputs) []Flag { return missingCluster(in.Inputs) },
			New: func(world AKS, in poolInputs) (runbook.Runbook, error) {
				return recreatepool.New(recreatepool.World(world), in.Inputs)
			},
			Replayed: func(in poolInputs, target runbook.Target) (runbook.Runbook, error) {
				return recreatepool.Replayed(in.Inputs, target)
			},
		},
		Cluster: func(in poolInputs) AKSName {
			return AKSName{Subscription: in.Subscription, ResourceGroup: in.ResourceGroup, Cluster: in.Inputs.Cluster}
		},
		Complete: completePool,
		Confirm:  confirmPool,
		Select:   selectPools,
	}
}

func completePool(in *poolInputs, flags *pflag.FlagSet, lookup func(string) string) error {
	if err := readEnvironment(flags, &in.Inputs, lookup); err != nil {
		return err
	}
	switch {
	case flags.Changed("role") && flags.Changed("pool"):
		return errors.New("--pool and --role together: name one pool, or the role of several")
	case flags.Changed("role") && in.Role == "":
		return errors.New("--role is empty: an empty choice is never all pools")
	case !flags.Changed("role") && !flags.Changed("pool"):
		in.Role = lookup("NODEPOOL_TAG")
	}
	return nil
}

// confirmPool refuses a cluster that is misspelt, and a pool that the cluster does not have, unless an open run has
// deleted it.
func confirmPool(ctx context.Context, world AKS, in poolInputs) error {
	ctx, cancel := clock.WithTimeout(ctx, world.Clock, probeToLook)
	defer cancel()
	cluster, err := world.Azure.Cluster(ctx, in.ResourceGroup, in.Inputs.Cluster)
	if err != nil {
		return misspelt(ctx, world.Azure, in.ResourceGroup, in.Inputs.Cluster, err) // what can't be seen is for the guards
	}
	if _, there := cluster.Pool(in.Pool); there || in.Role != "" {
		return nil
	}
	open, err := world.OpenRun(ctx, strings.ToLower(azure.PoolID(in.clusterID(), in.Pool)))
	if err != nil || open != "" {
		return nil //nolint:nilerr // the engine looks for it again
	}
	var names []string
	for _, pool := range cluster.Pools {
		names = append(names, pool.Name)
	}
	return fmt.Errorf("pool %q not found in cluster %q. %s", in.Pool, in.Inputs.Cluster, didYouMean(in.Pool, names))
}

// selectPools gives the inputs for each pool of a role. Pools that an open run has
// deleted and not made again come first: nothing in the cluster tells their role.
func selectPools(
	ctx context.Context, world AKS, in poolInputs, open func() ([]poolInputs, error),
) ([]poolInputs, runbook.Finding) {
	if in.Role == "" {
		return []poolInputs{in}, runbook.Yes("pool %q was named", in.Pool)
	}
	cluster, err := world.Azure.Cluster(ctx, in.ResourceGroup, in.Inputs.Cluster)
	switch {
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		return nil, runbook.No("the cluster does not exist")
	case err != nil:
		return nil, runbook.Unknownf("the pools of role %q can't be seen: %v", in.Role, err)
	}
	begun, err := open()
	if err != nil {
		return nil, runbook.Unknown(err)
	}
	var names []string
	for _, begun := range begun {
		if _, there := cluster.Pool(begun.Pool); !there && begun.clusterID() == in.clusterID() {
			names = append(names, begun.Pool)
		}
	}
	names = append(names, recreatepool.PoolsOfRole(cluster, in.Role)...)
	if len(names) == 0 {
		return nil, runbook.No("the cluster has no pool of role %q", in.Role)
	}
	var selected []poolInputs
	for _, name := range names {
		one := in
		one.Pool = name
		selected = append(selected, one)
	}
	return selected, runbook.Yes("%d pools have role %q", len(selected), in.Role)
}

func (in poolInputs) clusterID() string {
	return strings.ToLower(azure.ClusterID(in.Subscription, in.ResourceGroup, in.Inputs.Cluster))
}
