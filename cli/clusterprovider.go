package cli

import (
	"context"

	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
)

// clusterProvider is a runbook for any cluster.
type clusterProvider[Inputs any] struct{ definition Definition[Cluster, Inputs] }

func (p clusterProvider[Inputs]) entry() entry {
	return &clusterEntry[Inputs]{Definition: p.definition, inputs: p.definition.Defaults}
}

// clusterEntry is a runbook for any cluster, reached by a kubeconfig.
type clusterEntry[Inputs any] struct {
	Definition[Cluster, Inputs]
	inputs Inputs
}

func (o *clusterEntry[Inputs]) name() string    { return o.Name }
func (o *clusterEntry[Inputs]) short() string   { return o.Short }
func (o *clusterEntry[Inputs]) long() string    { return o.Long }
func (o *clusterEntry[Inputs]) example() string { return o.Example }
func (o *clusterEntry[Inputs]) watches() bool   { return o.Watch != nil }

func (o *clusterEntry[Inputs]) addFlags(asked *request, flags *pflag.FlagSet) {
	if o.Flags != nil {
		o.Flags(&o.inputs, flags)
	}
	asked.cloud.kubernetesFlags.addFlags(flags, "$KUBECONFIG, or ~/.kube/config")
}

func (o *clusterEntry[Inputs]) read(a *app, asked *request, _ *pflag.FlagSet) error {
	if err := o.missing(o.inputs); err != nil {
		return err
	}
	return asked.cloud.kubernetesFlags.orDefault(a)
}

func (o *clusterEntry[Inputs]) factory(a *app, asked *request) (factory, error) {
	cluster, err := asked.cloud.openCluster()
	if err != nil {
		return nil, err
	}
	return &clusterFactory[Inputs]{entry: o, reached: cluster, user: a.lookup("USER")}, nil
}

// watch looks on until something is wrong.
func (o *clusterEntry[Inputs]) watch(
	ctx context.Context, _ *app, asked *request, say func(string),
) (runbook.Finding, error) {
	cluster, err := asked.cloud.openCluster()
	if err != nil {
		return runbook.Finding{}, err
	}
	if _, err := o.made(Cluster{Cluster: cluster}, o.inputs); err != nil {
		return runbook.Finding{}, invalidInputs(err)
	}
	return o.Watch(ctx, Cluster{Cluster: cluster}, o.inputs, say), nil
}

// resumed goes by the same ways to the cluster as to the journal, or else to the
// default one: a target of another cluster is refused by its ID.
func (o *clusterEntry[Inputs]) resumed(ctx context.Context, a *app, asked *request, header journal.Header) (
	factory, error,
) {
	inputs, err := inputsOf[Inputs](header)
	if err != nil {
		return nil, err
	}
	o.inputs = inputs
	if !asked.named() {
		if err := asked.cloud.kubernetesFlags.orDefault(a); err != nil {
			return nil, err
		}
		return o.factory(a, asked)
	}
	cluster, err := asked.cluster(ctx, a)
	if err != nil {
		return nil, err
	}
	return &clusterFactory[Inputs]{entry: o, reached: cluster, user: a.lookup("USER")}, nil
}

// clusterFactory makes the runbook of an entry on a cluster.
type clusterFactory[Inputs any] struct {
	entry   *clusterEntry[Inputs]
	reached *kube.Cluster
	// identity is asked for once.
	identity string
	user     string
}

func (c *clusterFactory[Inputs]) clock() clock.Clock { return c.reached.Clock }

func (c *clusterFactory[Inputs]) cluster(context.Context) (*kube.Cluster, error) {
	return c.reached, nil
}

func (c *clusterFactory[Inputs]) trial() (runbook.Runbook, error) {
	return c.make(c.entry.inputs)
}

func (c *clusterFactory[Inputs]) make(in Inputs) (runbook.Runbook, error) {
	return c.entry.made(Cluster{Cluster: c.reached, ID: c.identity, User: c.user}, in)
}

func (c *clusterFactory[Inputs]) books(
	ctx context.Context, _ *journal.Location,
) ([]runbook.Runbook, []engine.Result, error) {
	if err := c.identify(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, nil, cause
		}
		return nil, c.without(runbook.Undecided, "which cluster this is can't be seen: "+err.Error()), nil
	}
	book, err := c.make(c.entry.inputs)
	if err != nil {
		return nil, nil, invalidInputs(err)
	}
	return []runbook.Runbook{book}, nil, nil
}

func (c *clusterFactory[Inputs]) identify(ctx context.Context) (err error) {
	if c.identity == "" {
		c.identity, err = c.reached.ID(ctx)
	}
	return err
}

func (c *clusterFactory[Inputs]) again(
	ctx context.Context, _ *journal.Location, header journal.Header,
) (runbook.Runbook, error) {
	inputs, err := inputsOf[Inputs](header)
	if err != nil {
		return runbook.Runbook{}, err
	}
	if err := c.identify(ctx); err != nil {
		return runbook.Runbook{}, err
	}
	book, err := c.make(inputs)
	if err != nil {
		return runbook.Runbook{}, badInputs(header, err)
	}
	return book, nil
}

func (c *clusterFactory[Inputs]) without(outcome runbook.Outcome, reason string) []engine.Result {
	return []engine.Result{{
		Runbook: c.entry.Name, Outcome: outcome, Reason: reason,
		Target: runbook.Target{Kind: "cluster", ID: c.identity, Name: "the cluster"},
	}}
}
