package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"salve/azure"
	"salve/engine"
	"salve/internal/clock"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// aksProvider is a runbook for an AKS cluster.
type aksProvider[Inputs any] struct{ definition AKSDefinition[Inputs] }

func (p aksProvider[Inputs]) offer() offer {
	return &aksOffer[Inputs]{AKSDefinition: p.definition, inputs: p.definition.Defaults}
}

// aksOffer is a runbook for an AKS cluster, reached by ARM.
type aksOffer[Inputs any] struct {
	AKSDefinition[Inputs]
	inputs Inputs
}

func (o *aksOffer[Inputs]) name() string    { return o.Name }
func (o *aksOffer[Inputs]) short() string   { return o.Short }
func (o *aksOffer[Inputs]) long() string    { return o.Long }
func (o *aksOffer[Inputs]) example() string { return o.Example }
func (o *aksOffer[Inputs]) watches() bool   { return o.Watch != nil }

func (o *aksOffer[Inputs]) validate() error {
	if o.Cluster == nil {
		return errors.New("the function Cluster is missing")
	}
	return o.Definition.validate()
}

func (o *aksOffer[Inputs]) addFlags(asked *request, flags *pflag.FlagSet) {
	if o.Flags != nil {
		o.Flags(&o.inputs, flags)
	}
	asked.cloud.addFlags(flags)
}

func (o *aksOffer[Inputs]) read(a *app, asked *request, flags *pflag.FlagSet) error {
	if o.Complete != nil {
		if err := o.Complete(&o.inputs, flags, a.lookup); err != nil {
			return usage("%v", err)
		}
	}
	return asked.cloud.check()
}

func (o *aksOffer[Inputs]) recipe(a *app, asked *request) (recipe, error) {
	named := o.Cluster(o.inputs)
	asked.inputs = recreatepool.Defaults() // of them only the cluster's name is used
	asked.inputs.Subscription, asked.inputs.ResourceGroup, asked.inputs.Cluster = named.Subscription, named.ResourceGroup, named.Cluster
	world, err := a.connect(asked.cloud, asked.inputs)
	world.OpenRun = func(ctx context.Context, target string) (string, error) { return asked.openRun(ctx, target) }
	return &aksRecipe[Inputs]{offer: o, world: AKS(world)}, err
}

func (o *aksOffer[Inputs]) resumed(a *app, asked *request, header journal.Header) (recipe, error) {
	inputs, err := inputsOf[Inputs](header)
	if err != nil {
		return nil, err
	}
	o.inputs = inputs
	return o.recipe(a, asked)
}

func (o *aksOffer[Inputs]) watch(ctx context.Context, a *app, asked *request, say func(string)) (runbook.Finding, error) {
	recipe, err := o.recipe(a, asked)
	if err != nil {
		return runbook.Finding{}, err
	}
	if _, err := recipe.trial(); err != nil {
		return runbook.Finding{}, usage("%v", err)
	}
	return o.Watch(ctx, recipe.(*aksRecipe[Inputs]).world, o.inputs, say), nil
}

// aksRecipe makes the runbooks of an offer on an AKS cluster.
type aksRecipe[Inputs any] struct {
	offer *aksOffer[Inputs]
	world AKS
}

func (r *aksRecipe[Inputs]) clock() clock.Clock { return r.world.Clock }

func (r *aksRecipe[Inputs]) named() AKSName { return r.offer.Cluster(r.offer.inputs) }

func (r *aksRecipe[Inputs]) cluster(ctx context.Context) (*kube.Cluster, error) {
	cluster, err := r.world.Kubernetes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reaching the journal in cluster %q: %w", r.named().Cluster, err)
	}
	return cluster, nil
}

func (r *aksRecipe[Inputs]) trial() (runbook.Runbook, error) {
	return r.offer.made(r.world, r.offer.inputs)
}

func (r *aksRecipe[Inputs]) again(_ context.Context, kept *journal.Location, header journal.Header) (runbook.Runbook, error) {
	inputs, err := inputsOf[Inputs](header)
	if err != nil {
		return runbook.Runbook{}, err
	}
	book, err := r.offer.made(r.worldWith(kept), inputs)
	if err != nil {
		return runbook.Runbook{}, badInputs(header, err)
	}
	return book, nil
}

// worldWith is the world whose leases are those of a location, unless it brings its own: those of the cluster, which
// tell of runs whose record is elsewhere.
func (r *aksRecipe[Inputs]) worldWith(kept *journal.Location) AKS {
	world := r.world
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

func (r *aksRecipe[Inputs]) books(ctx context.Context, kept *journal.Location) ([]runbook.Runbook, []engine.Result, error) {
	selected, ending, err := r.selected(ctx, kept)
	if err != nil || ending != nil {
		return nil, ending, err
	}
	var books []runbook.Runbook
	for _, inputs := range selected {
		book, err := r.offer.made(r.worldWith(kept), inputs)
		if err != nil {
			return nil, nil, usage("%v", err)
		}
		books = append(books, book)
	}
	return books, nil, nil
}

// selected are the inputs of each run. Where there is none it gives the ending instead.
func (r *aksRecipe[Inputs]) selected(ctx context.Context, kept *journal.Location) ([]Inputs, []engine.Result, error) {
	if r.offer.Select == nil {
		return []Inputs{r.offer.inputs}, nil, nil
	}
	var unreadable error
	selected, found := r.offer.Select(ctx, r.world, r.offer.inputs, func() (open []Inputs, _ error) {
		open, unreadable = r.open(ctx, kept)
		return open, unreadable
	})
	switch {
	case unreadable != nil:
		return nil, nil, unreadable
	case found.Answer == runbook.AnswerHolds && len(selected) > 0:
		return selected, nil, nil
	case context.Cause(ctx) != nil:
		return nil, nil, context.Cause(ctx)
	case found.Answer == runbook.AnswerDoesNotHold && found.Outcome == "":
		return nil, r.without(runbook.NothingToDo, found.Reason), nil
	case found.Answer == runbook.AnswerDoesNotHold:
		return nil, r.without(found.Outcome, found.Reason), nil
	}
	return nil, r.without(runbook.Undecided, found.Reason), nil
}

// open are the inputs of the open runs of the runbook.
func (r *aksRecipe[Inputs]) open(ctx context.Context, kept *journal.Location) ([]Inputs, error) {
	var unreadable error
	records, err := journal.Find(ctx, kept, func(history *journal.History) bool {
		return history.Closed == nil && history.Header.Runbook == r.offer.Name
	}, func(_ string, err error) { unreadable = err })
	if err = errors.Join(err, unreadable); err != nil {
		return nil, err
	}
	var all []Inputs
	for _, record := range records {
		inputs, err := inputsOf[Inputs](record.Header)
		if err != nil {
			return nil, err
		}
		all = append(all, inputs)
	}
	return all, nil
}

func (r *aksRecipe[Inputs]) without(outcome runbook.Outcome, reason string) []engine.Result {
	named := r.named()
	id := azure.ClusterID(named.Subscription, named.ResourceGroup, named.Cluster)
	return []engine.Result{{
		Runbook: r.offer.Name, Outcome: outcome, Reason: reason,
		Target: runbook.Target{Kind: "AKS cluster", ID: strings.ToLower(id), Name: named.Cluster},
	}}
}
