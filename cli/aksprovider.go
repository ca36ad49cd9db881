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

func (p aksProvider[Inputs]) entry() entry {
	return &aksEntry[Inputs]{AKSDefinition: p.definition, inputs: p.definition.Defaults}
}

// aksEntry is a runbook for an AKS cluster, reached by ARM.
type aksEntry[Inputs any] struct {
	AKSDefinition[Inputs]
	inputs Inputs
}

func (o *aksEntry[Inputs]) name() string    { return o.Name }
func (o *aksEntry[Inputs]) short() string   { return o.Short }
func (o *aksEntry[Inputs]) long() string    { return o.Long }
func (o *aksEntry[Inputs]) example() string { return o.Example }
func (o *aksEntry[Inputs]) watches() bool   { return o.Watch != nil }

func (o *aksEntry[Inputs]) validate() error {
	if o.Cluster == nil {
		return errors.New("the function Cluster is missing")
	}
	return o.Definition.validate()
}

func (o *aksEntry[Inputs]) addFlags(asked *request, flags *pflag.FlagSet) {
	if o.Flags != nil {
		o.Flags(&o.inputs, flags)
	}
	asked.cloud.addFlags(flags)
}

func (o *aksEntry[Inputs]) read(a *app, asked *request, flags *pflag.FlagSet) error {
	if o.Complete != nil {
		if err := o.Complete(&o.inputs, flags, a.lookup); err != nil {
			return usage("%v", err)
		}
	}
	if err := o.missing(o.inputs); err != nil {
		return err
	}
	return asked.cloud.check()
}

func (o *aksEntry[Inputs]) factory(a *app, asked *request) (factory, error) {
	named := o.Cluster(o.inputs)
	asked.inputs = recreatepool.Defaults() // of them only the cluster's name is used
	in := &asked.inputs
	in.Subscription, in.ResourceGroup, in.Cluster = named.Subscription, named.ResourceGroup, named.Cluster
	world, err := a.connect(asked.cloud, asked.inputs)
	world.OpenRun = func(ctx context.Context, target string) (string, error) { return asked.openRun(ctx, target) }
	return &aksFactory[Inputs]{entry: o, world: AKS(world), confirm: true}, err
}

func (o *aksEntry[Inputs]) resumed(_ context.Context, a *app, asked *request, header journal.Header) (factory, error) {
	inputs, err := inputsOf[Inputs](header)
	if err != nil {
		return nil, err
	}
	o.inputs = inputs
	return o.factory(a, asked)
}

func (o *aksEntry[Inputs]) watch(
	ctx context.Context, a *app, asked *request, say func(string),
) (runbook.Finding, error) {
	factory, err := o.factory(a, asked)
	if err != nil {
		return runbook.Finding{}, err
	}
	if _, err := factory.trial(); err != nil {
		return runbook.Finding{}, invalidInputs(err)
	}
	return o.Watch(ctx, factory.(*aksFactory[Inputs]).world, o.inputs, say), nil
}

// aksFactory makes the runbooks of an entry on an AKS cluster.
type aksFactory[Inputs any] struct {
	entry *aksEntry[Inputs]
	world AKS
	// confirm asks the definition's Confirm; who rehearses has a world of its own.
	confirm bool
}

func (r *aksFactory[Inputs]) clock() clock.Clock { return r.world.Clock }

func (r *aksFactory[Inputs]) named() AKSName { return r.entry.Cluster(r.entry.inputs) }

func (r *aksFactory[Inputs]) cluster(ctx context.Context) (*kube.Cluster, error) {
	cluster, err := r.world.Kubernetes(ctx)
	if err != nil && r.confirm {
		named := r.named()
		if wrong := misspelt(ctx, r.world.Azure, named.ResourceGroup, named.Cluster, err); wrong != nil {
			return nil, wrong
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reaching the journal in cluster %q: %w", r.named().Cluster, err)
	}
	return cluster, nil
}

func (r *aksFactory[Inputs]) trial() (runbook.Runbook, error) {
	return r.entry.made(r.world, r.entry.inputs)
}

func (r *aksFactory[Inputs]) again(
	_ context.Context, kept *journal.Location, header journal.Header,
) (runbook.Runbook, error) {
	inputs, err := inputsOf[Inputs](header)
	if err != nil {
		return runbook.Runbook{}, err
	}
	book, err := r.entry.made(r.worldWith(kept), inputs)
	if err != nil {
		return runbook.Runbook{}, badInputs(header, err)
	}
	return book, nil
}

// worldWith is the world whose leases are those of a location, unless it brings its own: those of the cluster, which
// tell of runs whose record is elsewhere.
func (r *aksFactory[Inputs]) worldWith(kept *journal.Location) AKS {
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

// worldBeside is worldWith, whose leases are those beside the records alone where the cluster's can't be seen.
func (r *aksFactory[Inputs]) worldBeside(kept *journal.Location) AKS {
	world := r.worldWith(kept)
	everywhere := world.OpenRun
	world.OpenRun = func(ctx context.Context, target string) (string, error) {
		if name, err := everywhere(ctx, target); err == nil {
			return name, nil
		}
		lease, err := kept.Peek(ctx, target)
		if err != nil || lease.Open == nil || lease.Open.Closed {
			return "", err
		}
		return lease.Open.Run, nil
	}
	return world
}

func (r *aksFactory[Inputs]) books(
	ctx context.Context, kept *journal.Location,
) ([]runbook.Runbook, []engine.Result, error) {
	if r.confirm && r.entry.Confirm != nil {
		if err := r.entry.Confirm(ctx, r.worldBeside(kept), r.entry.inputs); err != nil {
			return nil, nil, invalidInputs(err)
		}
	}
	selected, ending, err := r.selected(ctx, kept)
	if err != nil || ending != nil {
		return nil, ending, err
	}
	var books []runbook.Runbook
	for _, inputs := range selected {
		book, err := r.entry.made(r.worldWith(kept), inputs)
		if err != nil {
			return nil, nil, invalidInputs(err)
		}
		books = append(books, book)
	}
	return books, nil, nil
}

// selected are the inputs of each run. Where there is none it gives the ending instead.
func (r *aksFactory[Inputs]) selected(ctx context.Context, kept *journal.Location) ([]Inputs, []engine.Result, error) {
	if r.entry.Select == nil {
		return []Inputs{r.entry.inputs}, nil, nil
	}
	var unreadable error
	selected, found := r.entry.Select(ctx, r.world, r.entry.inputs, func() (open []Inputs, _ error) {
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

// open are the inputs of the runbook's open runs, which the leases of their targets name.
func (r *aksFactory[Inputs]) open(ctx context.Context, kept *journal.Location) ([]Inputs, error) {
	named, err := kept.OpenRuns(ctx)
	if err != nil {
		return nil, err
	}
	var all []Inputs
	for _, open := range named {
		if open.Runbook != r.entry.Name {
			continue
		}
		found, err := journal.FindOpen(ctx, kept, open.Target, &open)
		var elsewhere *journal.ElsewhereError
		switch {
		case errors.As(err, &elsewhere):
			continue // it is resumed from where its record is; the engine refuses its target meanwhile
		case err != nil:
			return nil, err
		case found.Record == nil || found.Record.Header.Runbook != r.entry.Name:
			continue
		}
		inputs, err := inputsOf[Inputs](found.Record.Header)
		if err != nil {
			return nil, err
		}
		all = append(all, inputs)
	}
	return all, nil
}

func (r *aksFactory[Inputs]) without(outcome runbook.Outcome, reason string) []engine.Result {
	named := r.named()
	id := azure.ClusterID(named.Subscription, named.ResourceGroup, named.Cluster)
	return []engine.Result{{
		Runbook: r.entry.Name, Outcome: outcome, Reason: reason,
		Target: runbook.Target{Kind: "AKS cluster", ID: strings.ToLower(id), Name: named.Cluster},
	}}
}
