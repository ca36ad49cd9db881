package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"salve/runbook"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/instance"
	"salve/runbooks/rescuepods/stranded"
)

// rescuePods provides rescue-stranded-pods.
func rescuePods() Provider {
	return OnCluster(Definition[Cluster, rescuepods.Inputs]{
		Name: rescuepods.Name, Short: "Remove pods that were created in a namespace where they can't start",
		Example:  "--selector created-by-prow=true --expected-namespace test-pods",
		Defaults: rescuepods.Defaults(),
		Limits: map[string]func(*rescuepods.Inputs) *int{
			"max": func(in *rescuepods.Inputs) *int { return &in.Max },
		},
		Flags: func(in *rescuepods.Inputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Selector, "selector", "", "label `selector` of the pods")
			flags.StringArrayVar(&in.Expected, "expected-namespace", nil, "`namespace` where such pods belong (repeatable)")
			flags.IntVar(&in.Max, "max", in.Max, "how many pods may be stranded; above it nothing is done")
			flags.DurationVar(&in.MinAge.Duration, "min-age", in.MinAge.Duration,
				"how old the youngest pod elsewhere must be: by then its source is mended")
			flags.StringVar(&in.ProwJobs, "prowjob-namespace", "", "`namespace` of the ProwJobs (default: all are searched)")
			flags.DurationVar(&in.ReplacedWithin.Duration, "replaced-within", in.ReplacedWithin.Duration,
				"how long the jobs' controller has to make new pods")
			addProwPodFlags(&in.Prow, flags)
		},
		Missing: func(in rescuepods.Inputs) (missing []Flag) {
			if in.Selector == "" && in.Prow.Config == "" {
				missing = append(missing, Flag{Name: "selector", Example: "created-by-prow=true"})
			}
			if len(in.Expected) == 0 && in.Prow.Config == "" {
				missing = append(missing, Flag{Name: "expected-namespace", Example: "test-pods"})
			}
			return missing
		},
		New: func(cluster Cluster, in rescuepods.Inputs) (runbook.Runbook, error) {
			world, err := podsWorld(cluster, in)
			if err != nil {
				return runbook.Runbook{}, err
			}
			return rescuepods.New(world, in)
		},
		Replayed: rescuepods.Replayed,
		Watch: func(ctx context.Context, cluster Cluster, in rescuepods.Inputs, say func(string)) runbook.Finding {
			world, err := podsWorld(cluster, in)
			if err == nil {
				err = rescuepods.Watch(ctx, world, in, say)
			}
			var stranded *stranded.Error
			if errors.As(err, &stranded) {
				return runbook.No("%v", err)
			}
			return runbook.Unknown(err)
		},
	})
}

// addProwPodFlags adds the flags that make the pods those of a Prow instance.
func addProwPodFlags(in *rescuepods.Prow, flags *pflag.FlagSet) {
	flags.StringVar(&in.Config, "prow-config", "",
		"`file` config.yaml of the Prow instance, as git has it: its pods are rescued, under Prow's own guards")
	flags.StringVar(&in.Namespace, "prow-namespace", "",
		"`namespace` of plank's and sinker's Deployments (default: that of the ProwJobs)")
	flags.StringVar(&in.ConfigMap, "prow-config-map", "",
		"`NAMESPACE/NAME/KEY` of plank's configuration in the cluster (default: where its Deployment mounts it from)")
	flags.IntVar(&in.Proven, "proven-jobs", in.Proven,
		"how many jobs that are newer than the youngest stray must have their pods where they belong")
	flags.StringVar(&in.PlankVersion, "plank-version", "",
		"`version` of the plank that erred: pods of others are left alone")
	flags.StringVar(&in.Since, "incident-since", "", "`time` when it began (default: the oldest stray, a day at most)")
	flags.StringVar(&in.Until, "incident-until", "", "`time` when it ended (default: the youngest stray)")
	flags.IntVar(&in.MaxShare, "max-share", in.MaxShare, "how many percent of the instance's pods a run may delete")
	flags.StringVar(&in.ApprovedList, "approved-list", "",
		"`digest` of the list that was approved, as check says it: another list is refused")
	flags.StringVar(&in.ApprovedBy, "approved-by", "",
		"`name` of the person who approved the list, and who is not the one that runs this")
}

// podsWorld is what the runbook acts on, with the configuration of the Prow instance where one is named.
func podsWorld(cluster Cluster, in rescuepods.Inputs) (rescuepods.World, error) {
	world := rescuepods.World{Cluster: cluster.Cluster, ClusterID: cluster.ID, User: cluster.User}
	if in.Prow.Config == "" {
		return world, nil
	}
	var err error
	if world.Prow, err = instance.ReadConfiguration(in.Prow.Config); err != nil {
		err = fmt.Errorf("--prow-config: %w", err)
	}
	return world, err
}
