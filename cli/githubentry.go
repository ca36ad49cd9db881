package cli

import (
	"context"

	"github.com/spf13/pflag"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// githubEntry is that of a runbook that acts on GitHub. What it acts on is looked for before the runbook is made.
type githubEntry[Inputs any] struct {
	*clusterEntry[Inputs]
	github *githubFlags
	// search says what is looked for, and how. Its error ends the command.
	search func(ctx context.Context, cluster Cluster, in Inputs) (discovery[Inputs], error)
	// opened is told where the journal is, before anything is made or looked for; nil where nobody requires it.
	opened func(kept *journal.Location)
}

func (o *githubEntry[Inputs]) read(a *app, asked *request, flags *pflag.FlagSet) error {
	if err := o.github.read(a.lookup); err != nil {
		return err
	}
	return o.clusterEntry.read(a, asked, flags)
}

func (o *githubEntry[Inputs]) factory(a *app, asked *request) (factory, error) {
	return o.searching(o.clusterEntry.factory(a, asked))
}

func (o *githubEntry[Inputs]) resumed(ctx context.Context, a *app, asked *request, header journal.Header) (factory,
	error) {
	if err := o.github.read(a.lookup); err != nil {
		return nil, err
	}
	return o.searching(o.clusterEntry.resumed(ctx, a, asked, header))
}

func (o *githubEntry[Inputs]) searching(made factory, err error) (factory, error) {
	if err != nil {
		return nil, err
	}
	return &githubFactory[Inputs]{made.(*clusterFactory[Inputs]), o}, nil
}

// githubFactory looks for what there is to do before it makes the runbook.
type githubFactory[Inputs any] struct {
	*clusterFactory[Inputs]
	of *githubEntry[Inputs]
}

func (f *githubFactory[Inputs]) open(kept *journal.Location) {
	if f.of.opened != nil {
		f.of.opened(kept)
	}
}

func (f *githubFactory[Inputs]) books(ctx context.Context, kept *journal.Location) ([]runbook.Runbook,
	[]engine.Result, error) {
	f.open(kept)
	look, err := f.of.search(ctx, Cluster{Cluster: f.reached}, f.entry.inputs)
	if err != nil {
		return nil, nil, err
	}
	return f.discovered(ctx, kept, look)
}

func (f *githubFactory[Inputs]) again(ctx context.Context, kept *journal.Location, header journal.Header) (
	runbook.Runbook, error) {
	f.open(kept)
	return f.clusterFactory.again(ctx, kept, header)
}
