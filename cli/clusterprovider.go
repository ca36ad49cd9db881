package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
)

// clusterProvider is a runbook for any cluster.
type clusterProvider[Inputs any] struct{ definition Definition[Cluster, Inputs] }

func (p clusterProvider[Inputs]) offer() offer {
	return &clusterOffer[Inputs]{Definition: p.definition, inputs: p.definition.Defaults}
}

// clusterOffer is a runbook for any cluster, reached by a kubeconfig.
type clusterOffer[Inputs any] struct {
	Definition[Cluster, Inputs]
	inputs Inputs
}

func (o *clusterOffer[Inputs]) name() string    { return o.Name }
func (o *clusterOffer[Inputs]) short() string   { return o.Short }
func (o *clusterOffer[Inputs]) long() string    { return o.Long }
func (o *clusterOffer[Inputs]) example() string { return o.Example }
func (o *clusterOffer[Inputs]) watches() bool   { return o.Watch != nil }

func (o *clusterOffer[Inputs]) addFlags(asked *request, flags *pflag.FlagSet) {
	if o.Flags != nil {
		o.Flags(&o.inputs, flags)
	}
	asked.cloud.kubernetesFlags.addFlags(flags, "$KUBECONFIG, or ~/.kube/config")
}

func (o *clusterOffer[Inputs]) read(a *app, asked *request, _ *pflag.FlagSet) error {
	return asked.cloud.kubernetesFlags.orDefault(a)
}

func (o *clusterOffer[Inputs]) recipe(_ *app, asked *request) (recipe, error) {
	cluster, err := asked.cloud.openCluster()
	if err != nil {
		return nil, err
	}
	return &clusterRecipe[Inputs]{offer: o, reached: cluster}, nil
}

// watch looks on until something is wrong.
func (o *clusterOffer[Inputs]) watch(ctx context.Context, _ *app, asked *request, say func(string)) (runbook.Finding, error) {
	cluster, err := asked.cloud.openCluster()
	if err != nil {
		return runbook.Finding{}, err
	}
	if _, err := o.made(Cluster{Cluster: cluster}, o.inputs); err != nil {
		return runbook.Finding{}, usage("%v", err)
	}
	return o.Watch(ctx, Cluster{Cluster: cluster}, o.inputs, say), nil
}

// resumed goes by the same ways to the cluster as to the journal, or else to the
// default one: a target of another cluster is refused by its ID.
func (o *clusterOffer[Inputs]) resumed(a *app, asked *request, header journal.Header) (recipe, error) {
	inputs, err := inputsOf[Inputs](header)
	if err != nil {
		return nil, err
	}
	o.inputs = inputs
	if !asked.named() {
		if err := asked.cloud.kubernetesFlags.orDefault(a); err != nil {
			return nil, err
		}
		return o.recipe(a, asked)
	}
	cluster, err := asked.cluster(context.Background(), a)
	return &clusterRecipe[Inputs]{offer: o, reached: cluster}, err
}

// clusterRecipe makes the runbook of an offer on a cluster.
type clusterRecipe[Inputs any] struct {
	offer   *clusterOffer[Inputs]
	reached *kube.Cluster
	// identity is asked for once.
	identity string
}

func (c *clusterRecipe[Inputs]) clock() clock.Clock { return c.reached.Clock }

func (c *clusterRecipe[Inputs]) cluster(context.Context) (*kube.Cluster, error) {
	return c.reached, nil
}

func (c *clusterRecipe[Inputs]) trial() (runbook.Runbook, error) {
	return c.make(c.offer.inputs)
}

func (c *clusterRecipe[Inputs]) make(in Inputs) (runbook.Runbook, error) {
	return c.offer.made(Cluster{Cluster: c.reached, ID: c.identity}, in)
}

func (c *clusterRecipe[Inputs]) books(ctx context.Context, _ *journal.Location) ([]runbook.Runbook, []engine.Result, error) {
	if err := c.identify(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, nil, cause
		}
		return nil, c.without(runbook.Undecided, "which cluster this is can't be seen: "+err.Error()), nil
	}
	book, err := c.make(c.offer.inputs)
	if err != nil {
		return nil, nil, usage("%v", err)
	}
	return []runbook.Runbook{book}, nil, nil
}

func (c *clusterRecipe[Inputs]) identify(ctx context.Context) (err error) {
	if c.identity == "" {
		c.identity, err = c.reached.ID(ctx)
	}
	return err
}

func (c *clusterRecipe[Inputs]) again(ctx context.Context, _ *journal.Location, header journal.Header) (runbook.Runbook, error) {
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

func (c *clusterRecipe[Inputs]) without(outcome runbook.Outcome, reason string) []engine.Result {
	return []engine.Result{{
		Runbook: c.offer.Name, Outcome: outcome, Reason: reason,
		Target: runbook.Target{Kind: "cluster", ID: c.identity, Name: "the cluster"},
	}}
}

// orDefault finds the kubeconfig that kubectl would take, if none was named.
func (k *kubernetesFlags) orDefault(a *app) error {
	if k.kubeconfig != "" {
		return nil
	}
	k.kubeconfig = a.lookup("KUBECONFIG")
	if len(filepath.SplitList(k.kubeconfig)) > 1 {
		return usage("KUBECONFIG names several files. hint: --kubeconfig FILE")
	}
	if k.kubeconfig == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return usage("kubeconfig not found: no home folder. hint: --kubeconfig FILE")
		}
		k.kubeconfig = filepath.Join(home, ".kube", "config")
	}
	return nil
}
