package cli

import (
	"context"

	"github.com/spf13/pflag"

	"salve/runbook"
	"salve/runbooks/unblockpulls"
)

// unblockPulls provides unblock-pull-requests.
func unblockPulls() Provider { return unblockProvider{} }

type unblockProvider struct{}

func (unblockProvider) entry() entry {
	github := &githubFlags{}
	return &githubEntry[unblockpulls.Inputs]{
		clusterEntry: &clusterEntry[unblockpulls.Inputs]{
			Definition: unblockDefinition(github), inputs: unblockpulls.Defaults(),
		},
		github: github,
		search: func(_ context.Context, cluster Cluster, in unblockpulls.Inputs) (discovery[unblockpulls.Inputs], error) {
			return unblockSearch(cluster, github, in)
		},
	}
}

// unblockSearch looks for what waits in vain.
func unblockSearch(cluster Cluster, github *githubFlags, in unblockpulls.Inputs) (
	look discovery[unblockpulls.Inputs], err error,
) {
	world, err := unblockWorld(cluster, github, in)
	if err != nil {
		return look, invalidInputs(err)
	}
	if look.target, err = unblockpulls.Target(github.endpoint); err != nil {
		return look, invalidInputs(err)
	}
	look.budget = in.Budget.Duration
	look.find = func(ctx context.Context, in unblockpulls.Inputs) (unblockpulls.Inputs, runbook.Finding) {
		return unblockpulls.Discover(ctx, world, in)
	}
	return look, nil
}

func unblockDefinition(github *githubFlags) Definition[Cluster, unblockpulls.Inputs] {
	return Definition[Cluster, unblockpulls.Inputs]{
		Name:     unblockpulls.Name,
		Short:    "Start jobs, or report results again, for pull requests stuck on a required status",
		Example:  "--config config.yaml --job-config jobs --bot k8s-ci-robot",
		Defaults: unblockpulls.Defaults(),
		Limits: map[string]func(*unblockpulls.Inputs) *int{
			"cap": func(in *unblockpulls.Inputs) *int { return &in.Cap },
		},
		Flags: func(in *unblockpulls.Inputs, flags *pflag.FlagSet) {
			addUnblockFlags(in, flags)
			github.addFlags(flags)
		},
		Missing: func(in unblockpulls.Inputs) (missing []Flag) {
			if in.Config == "" {
				missing = append(missing, Flag{Name: "config", Example: "config.yaml"})
			}
			if in.Bot == "" {
				missing = append(missing, Flag{Name: "bot", Example: "k8s-ci-robot"})
			}
			return missing
		},
		New: func(cluster Cluster, in unblockpulls.Inputs) (runbook.Runbook, error) {
			world, err := unblockWorld(cluster, github, in)
			if err != nil {
				return runbook.Runbook{}, err
			}
			return unblockpulls.New(world, in)
		},
		Replayed: unblockpulls.Replayed,
	}
}

func addUnblockFlags(in *unblockpulls.Inputs, flags *pflag.FlagSet) {
	flags.StringVar(&in.Config, "config", "", "`file` config.yaml of the Prow instance")
	flags.StringVar(&in.JobConfig, "job-config", "", "`folder` with its jobs, or one file")
	flags.StringArrayVar(&in.Supplemental, "supplemental", nil, "`folder` with shards of its config.yaml (repeatable)")
	flags.StringVar(&in.Bot, "bot", "", "`login` of Prow's own account, whose comments Prow ignores")
	flags.StringArrayVar(&in.Repos, "repo", nil,
		"`OWNER/NAME` of a repository (repeatable; default: all with presubmits)")
	flags.StringArrayVar(&in.Pulls, "pull", nil, "`OWNER/NAME#NUMBER` of a pull request (repeatable; wins over --repo)")
	flags.IntVar(&in.Cap, "cap", in.Cap, "how many statuses may be asked for in all; above it nothing is done")
	flags.IntVar(&in.Pace, "pace", in.Pace, "how many are asked for in a minute at most")
	flags.IntVar(&in.MaxUnfinished, "max-unfinished", in.MaxUnfinished,
		"how many ProwJobs may be unfinished, those that are started among them")
	flags.StringArrayVar(&in.External, "external-context", nil, "`context` that others than Prow report (repeatable)")
	flags.DurationVar(&in.Budget.Duration, "budget", in.Budget.Duration, "the time that a run may take in all")
}

func unblockWorld(cluster Cluster, github *githubFlags, in unblockpulls.Inputs) (
	world unblockpulls.World, err error,
) {
	if err := in.Validate(); err != nil {
		return world, err
	}
	world = unblockpulls.World{Endpoint: github.endpoint, Reserve: github.reserve, Cluster: cluster.Cluster}
	if world.GitHub, err = github.open(); err != nil {
		return world, err
	}
	world.Config, world.Digest, err = unblockpulls.ReadConfiguration(in)
	return world, err
}
