package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/repairprotection"
)

// repairProtection provides repair-branch-protection.
func repairProtection() Provider { return protectionProvider{} }

type protectionProvider struct{}

func (protectionProvider) entry() entry {
	github := &githubFlags{}
	return &githubEntry[repairprotection.Inputs]{
		clusterEntry: &clusterEntry[repairprotection.Inputs]{
			Definition: protectionDefinition(github), inputs: repairprotection.Defaults(),
		},
		github: github,
		search: func(_ context.Context, cluster Cluster, in repairprotection.Inputs) (discovery[repairprotection.Inputs],
			error) {
			return protectionSearch(cluster, github, in)
		},
	}
}

// protectionSearch looks for the branches that differ.
func protectionSearch(cluster Cluster, github *githubFlags, in repairprotection.Inputs) (
	look discovery[repairprotection.Inputs], err error,
) {
	world, err := protectionWorld(cluster, github, in)
	if err != nil {
		return look, invalidInputs(err)
	}
	if look.target, err = repairprotection.Target(github.endpoint); err != nil {
		return look, invalidInputs(err)
	}
	look.budget = in.Budget.Duration
	look.find = func(ctx context.Context, in repairprotection.Inputs) (repairprotection.Inputs, runbook.Finding) {
		return repairprotection.Discover(ctx, world, in)
	}
	return look, nil
}

func protectionDefinition(github *githubFlags) Definition[Cluster, repairprotection.Inputs] {
	return Definition[Cluster, repairprotection.Inputs]{
		Name:     repairprotection.Name,
		Short:    "Make GitHub's branch protection match Prow's configuration",
		Example:  "--config config.yaml --job-config jobs --manifests cluster",
		Defaults: repairprotection.Defaults(),
		Flags: func(in *repairprotection.Inputs, flags *pflag.FlagSet) {
			addProtectionFlags(in, flags)
			github.addFlags(flags)
		},
		Missing: func(in repairprotection.Inputs) (missing []Flag) {
			if in.Config == "" {
				missing = append(missing, Flag{Name: "config", Example: "config.yaml"})
			}
			return missing
		},
		New: func(cluster Cluster, in repairprotection.Inputs) (runbook.Runbook, error) {
			world, err := protectionWorld(cluster, github, in)
			if err != nil {
				return runbook.Runbook{}, err
			}
			return repairprotection.New(world, in)
		},
		Replayed: repairprotection.Replayed,
	}
}

func addProtectionFlags(in *repairprotection.Inputs, flags *pflag.FlagSet) {
	flags.StringVar(&in.Config, "config", "", "`file` config.yaml of the Prow instance")
	flags.StringVar(&in.JobConfig, "job-config", "", "`folder` with its jobs, or one file")
	flags.StringArrayVar(&in.Supplemental, "supplemental", nil, "`folder` with shards of its config.yaml (repeatable)")
	flags.StringVar(&in.Revision, "revision", "",
		"`revision` of the configuration: a git commit, a whole number or a time (default: the commit of its folder)")
	flags.StringVar(&in.BaseConfig, "base-config", "", "`file` config.yaml as it was, to find what Prow once required")
	flags.StringVar(&in.BaseJobConfig, "base-job-config", "", "`folder` with the jobs as they were")
	flags.StringVar(&in.Manifests, "manifests", "", "`folder` with what is deployed to Prow's cluster")
	flags.StringArrayVar(&in.Others, "other-prow-namespace", nil,
		"`namespace` of another Prow that protects none of the same repositories: its branchprotector doesn't "+
			"count (repeatable)")
	flags.StringArrayVar(&in.Repos, "repo", nil,
		"`OWNER/NAME` of a repository (repeatable; default: all that branchprotector visits)")
	flags.Var(&unprotected{&in.AllowUnprotect}, "allow-unprotect",
		"`OWNER/NAME=BRANCH=REASON`: the branch may lose its protection (repeatable)")
	flags.BoolVar(&in.RemoveLeftovers, "remove-leftovers", false,
		"also take contexts away that Prow once required on branches which it leaves alone now")
	flags.StringArrayVar(&in.External, "external-context", nil, "`context` that others than Prow report (repeatable)")
	flags.BoolVar(&in.AppsRestrictions, "enable-apps-restrictions", false, "as branchprotector's flag of this name")
	flags.IntVar(&in.Sample, "sample", in.Sample, "how many stuck pull requests are checked at the end")
	flags.StringVar(&in.RecordNamespace, "record-namespace", in.RecordNamespace,
		"`namespace` of the ConfigMap that says which configuration was applied last")
	flags.DurationVar(&in.Budget.Duration, "budget", in.Budget.Duration, "the time that a run may take in all")
}

func protectionWorld(cluster Cluster, github *githubFlags, in repairprotection.Inputs) (
	world repairprotection.World, err error,
) {
	if err := in.Validate(); err != nil {
		return world, err
	}
	world = repairprotection.World{Endpoint: github.endpoint, Reserve: github.reserve, Cluster: cluster.Cluster}
	if world.GitHub, err = github.open(); err != nil {
		return world, err
	}
	if world.Configuration, err = repairprotection.ReadConfiguration(in); err != nil {
		return world, err
	}
	world.Base, err = repairprotection.ReadBase(in)
	return world, err
}

// unprotected is the flag --allow-unprotect: the name of a branch may hold an equals sign no more than a reason does.
type unprotected struct{ reasons *map[string]string }

// Set adds a branch with its reason.
func (u *unprotected) Set(text string) error {
	parts := strings.SplitN(text, "=", 3)
	if len(parts) < 3 || strings.TrimSpace(parts[2]) == "" {
		return fmt.Errorf("it must be OWNER/NAME=BRANCH=REASON, with a reason")
	}
	if *u.reasons == nil {
		*u.reasons = map[string]string{}
	}
	(*u.reasons)[parts[0]+"="+parts[1]] = parts[2]
	return nil
}

func (u *unprotected) String() string {
	if u.reasons == nil {
		return ""
	}
	var all []string
	for _, branch := range slices.Sorted(maps.Keys(*u.reasons)) {
		all = append(all, branch+"="+(*u.reasons)[branch])
	}
	return strings.Join(all, ",")
}

// Type names the kind of flag.
func (u *unprotected) Type() string { return "branch=reason" }

// discovery finds what a run is to act on before it is made.
type discovery[Inputs any] struct {
	target runbook.Target
	budget time.Duration
	// find completes the inputs, or says by a finding that does not hold or is unknown why there is nothing to run for.
	find func(context.Context, Inputs) (Inputs, runbook.Finding)
}

// discovered makes the runbook of what is found. Where a run is open on the target nothing is looked for: that one is
// resumed with its own inputs.
func (c *clusterFactory[Inputs]) discovered(
	ctx context.Context, kept *journal.Location, look discovery[Inputs],
) ([]runbook.Runbook, []engine.Result, error) {
	limited, cancel := clock.WithTimeout(ctx, c.clock(), look.budget)
	defer cancel()
	in := c.entry.inputs
	if peeked, err := kept.Peek(ctx, look.target.ID); err != nil || peeked.Open == nil || peeked.Open.Closed {
		var found runbook.Finding
		if in, found = look.find(limited, in); found.Answer != runbook.AnswerHolds {
			return nil, endingOf(c.entry.Name, look.target, found), context.Cause(ctx)
		}
	}
	book, err := c.make(in)
	if err != nil {
		return nil, nil, invalidInputs(err)
	}
	return []runbook.Runbook{book}, nil, nil
}

// endingOf is that of an invocation that found nothing to run for.
func endingOf(name string, target runbook.Target, found runbook.Finding) []engine.Result {
	outcome := found.Outcome
	switch {
	case found.Answer == runbook.AnswerUnknown:
		outcome = runbook.Undecided
	case outcome == "":
		outcome = runbook.NothingToDo
	}
	return []engine.Result{{Runbook: name, Outcome: outcome, Reason: found.Reason, Target: target}}
}
