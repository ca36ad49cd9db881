package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/kube"
	"salve/runbook"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/stranded"
)

// strandedOffer is rescue-stranded-pods.
func strandedOffer() *clusterOffer[rescuepods.Inputs] {
	return &clusterOffer[rescuepods.Inputs]{
		called: rescuepods.Name, about: "Remove pods that were created in a namespace where they can't start",
		inputs: rescuepods.Defaults(),
		flags: func(in *rescuepods.Inputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Selector, "selector", "", "label `selector` of the pods")
			flags.StringArrayVar(&in.Expected, "expected-namespace", nil, "`namespace` where such pods belong (repeatable)")
			flags.IntVar(&in.Max, "max", in.Max, "how many pods may be stranded; above it nothing is done")
			flags.DurationVar(&in.MinAge.Duration, "min-age", in.MinAge.Duration, "how old the youngest pod elsewhere must be: by then its source is mended")
			flags.StringVar(&in.ProwJobs, "prowjob-namespace", "", "`namespace` of the ProwJobs (default: all are searched)")
			flags.DurationVar(&in.ReplacedWithin.Duration, "replaced-within", in.ReplacedWithin.Duration, "how long the jobs' controller has to make new pods")
		},
		make: func(cluster *kube.Cluster, identity string, in rescuepods.Inputs) (runbook.Runbook, error) {
			return rescuepods.New(rescuepods.World{Cluster: cluster, ClusterID: identity}, in)
		},
	}
}

// addWatch gives check the early alarm.
func addWatch(a *app, command *cobra.Command, offered *clusterOffer[rescuepods.Inputs], asked *request) {
	watch := false
	command.Flags().BoolVar(&watch, "watch", false, "stay, print a line for each change, and exit 1 as soon as pods strand")
	once := command.RunE
	command.RunE = func(command *cobra.Command, arguments []string) error {
		if !watch {
			return once(command, arguments)
		}
		if err := offered.read(a, asked, command.Flags()); err != nil {
			return err
		}
		if err := offered.inputs.Validate(); err != nil {
			return usage("%v", err)
		}
		return a.watchPods(command.Context(), offered, asked)
	}
}

func (a *app) watchPods(parent context.Context, offered *clusterOffer[rescuepods.Inputs], asked *request) error {
	cluster, err := asked.cloud.openCluster()
	if err != nil {
		return err
	}
	watched, leave := context.WithCancel(parent)
	defer leave()
	ctx, done := interruptible(watched, func(line string) { fmt.Fprintln(a.stderr, line) })
	defer done()
	world := rescuepods.World{Cluster: cluster}
	err = rescuepods.Watch(ctx, world, offered.inputs, func(line string) {
		if fmt.Fprintln(a.stdout, line); a.unread() {
			leave()
		}
	})
	var stranded *stranded.StrandedError
	switch {
	case errors.As(err, &stranded):
		return err
	case context.Cause(ctx) != nil:
		return nil // asked to stop, and nothing had stranded
	}
	return &blind{err}
}
