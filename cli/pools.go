package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"salve/azure"
	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// poolOffer is aks-recreate-pool.
type poolOffer struct{ role string }

func (*poolOffer) name() string { return recreatepool.Name }

func (*poolOffer) short() string {
	return "Recreate an AKS agent pool whose scale set can't be written any more"
}

func (o *poolOffer) addFlags(asked *request, flags *pflag.FlagSet) {
	asked.inputs = recreatepool.Defaults()
	addSettings(flags, &asked.inputs)
	flags.StringVar(&o.role, "role", "", "all pools whose label or tag "+recreatepool.RoleKey+" has this value, instead of --pool (NODEPOOL_TAG)")
	asked.cloud.addFlags(flags)
}

func (o *poolOffer) read(a *app, asked *request, flags *pflag.FlagSet) error {
	if err := readEnvironment(flags, &asked.inputs, a.lookup); err != nil {
		return err
	}
	switch {
	case flags.Changed("role") && flags.Changed("pool"):
		return usage("--pool and --role together: name one pool, or the role of several")
	case flags.Changed("role") && o.role == "":
		return usage("--role is empty: an empty choice is never all pools")
	case !flags.Changed("role") && !flags.Changed("pool"):
		o.role = a.lookup("NODEPOOL_TAG")
	}
	return asked.cloud.check()
}

func (o *poolOffer) recipe(a *app, asked *request) (recipe, error) {
	world, err := a.connect(asked.cloud, asked.inputs)
	world.OpenRun = func(ctx context.Context, target string) (string, error) { return asked.openRun(ctx, target) }
	return &pools{world: world, inputs: asked.inputs, role: o.role}, err
}

func (o *poolOffer) resumed(a *app, asked *request, header journal.Header) (recipe, error) {
	inputs, err := inputsOf[recreatepool.Inputs](header)
	if err != nil {
		return nil, err
	}
	asked.inputs = inputs
	return o.recipe(a, asked)
}

// pools makes runbooks that recreate pools of a cluster.
type pools struct {
	world  recreatepool.World
	inputs recreatepool.Inputs
	// role chooses pools instead of the one that the inputs name; may be empty.
	role string
}

func (p *pools) clock() clock.Clock { return p.world.Clock }

func (p *pools) cluster(ctx context.Context) (*kube.Cluster, error) {
	cluster, err := p.world.Kubernetes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reaching the journal in cluster %q: %w", p.inputs.Cluster, err)
	}
	return cluster, nil
}

func (p *pools) trial() (runbook.Runbook, error) { return recreatepool.New(p.world, p.inputs) }

func (p *pools) again(_ context.Context, kept *journal.Location, header journal.Header) (runbook.Runbook, error) {
	inputs, err := inputsOf[recreatepool.Inputs](header)
	if err != nil {
		return runbook.Runbook{}, err
	}
	book, err := recreatepool.New(p.worldWith(kept), inputs)
	if err != nil {
		return runbook.Runbook{}, badInputs(header, err)
	}
	return book, nil
}

// worldWith is the world whose leases are those of a location, unless it brings its own: those of the cluster, which
// tell of runs whose record is elsewhere.
func (p *pools) worldWith(kept *journal.Location) recreatepool.World {
	world := p.world
	if world.OpenRun != nil {
		return world
	}
	world.OpenRun = func(ctx context.Context, target string) (string, error) {
		lease, err := kept.Peek(ctx, target)
		if err != nil || lease.Open == nil || lease.Open.Closed {
			return "", err
		}
		return lease.Open.Run, nil
	}
	return world
}

func (p *pools) books(ctx context.Context, kept *journal.Location) ([]runbook.Runbook, []engine.Result, error) {
	names, ending, err := p.names(ctx, kept)
	if err != nil || ending != nil {
		return nil, ending, err
	}
	var books []runbook.Runbook
	for _, name := range names {
		inputs := p.inputs
		inputs.Pool = name
		book, err := recreatepool.New(p.worldWith(kept), inputs)
		if err != nil {
			return nil, nil, usage("%v", err)
		}
		books = append(books, book)
	}
	return books, nil, nil
}

// names are those of the pools to work on. Where none is to be worked on it gives
// the ending instead.
func (p *pools) names(ctx context.Context, kept *journal.Location) ([]string, []engine.Result, error) {
	if p.role == "" {
		return []string{p.inputs.Pool}, nil, nil
	}
	cluster, err := p.world.Azure.Cluster(ctx, p.inputs.ResourceGroup, p.inputs.Cluster)
	switch {
	case context.Cause(ctx) != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		return nil, p.without(runbook.NothingToDo, "the cluster does not exist"), nil
	case err != nil:
		return nil, p.without(runbook.Undecided, fmt.Sprintf("the pools of role %q can't be seen: %v", p.role, err)), nil
	}
	begun, err := p.begun(ctx, kept, cluster)
	if err != nil {
		return nil, nil, err
	}
	names := append(begun, recreatepool.PoolsOfRole(cluster, p.role)...)
	if len(names) == 0 {
		return nil, p.without(runbook.NothingToDo, fmt.Sprintf("the cluster has no pool of role %q", p.role)), nil
	}
	return names, nil, nil
}

// begun are pools of the cluster that an open run has deleted and not made again:
// nothing in the cluster tells their role any more, and they come first.
func (p *pools) begun(ctx context.Context, kept *journal.Location, cluster azure.Cluster) ([]string, error) {
	var unreadable error
	open, err := journal.Find(ctx, kept, func(history *journal.History) bool {
		return history.Closed == nil && history.Header.Runbook == recreatepool.Name
	}, func(_ string, err error) { unreadable = err })
	if err = errors.Join(err, unreadable); err != nil {
		return nil, err
	}
	var names []string
	for _, record := range open {
		_, name, _ := strings.Cut(record.Header.Target.Name, "/")
		if _, there := cluster.Pool(name); !there && record.Header.Target.ID == strings.ToLower(azure.PoolID(p.clusterID(), name)) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (p *pools) clusterID() string {
	return azure.ClusterID(p.inputs.Subscription, p.inputs.ResourceGroup, p.inputs.Cluster)
}

func (p *pools) without(outcome runbook.Outcome, reason string) []engine.Result {
	return []engine.Result{{
		Runbook: recreatepool.Name, Outcome: outcome, Reason: reason,
		Target: runbook.Target{Kind: "AKS cluster", ID: strings.ToLower(p.clusterID()), Name: p.inputs.Cluster},
	}}
}
