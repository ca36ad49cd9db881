package cli

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"salve/runbook"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/stranded"
)

// rescuePods provides rescue-stranded-pods.
func rescuePods() Provider {
	return OnCluster(Definition[Cluster, rescuepods.Inputs]{
		Name: rescuepods.Name, Short: "Remove pods that were created in a namespace where they can't start",
		Example:  "--selector created-by-prow=true --expected-namespace test-pods",
		Defaults: rescuepods.Defaults(),
		Flags: func(in *rescuepods.Inputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Selector, "selector", "", "label `selector` of the pods")
			flags.StringArrayVar(&in.Expected, "expected-namespace", nil, "`namespace` where such pods belong (repeatable)")
			flags.IntVar(&in.Max, "max", in.Max, "how many pods may be stranded; above it nothing is done")
			flags.DurationVar(&in.MinAge.Duration, "min-age", in.MinAge.Duration,
				"how old the youngest pod elsewhere must be: by then its source is mended")
			flags.StringVar(&in.ProwJobs, "prowjob-namespace", "", "`namespace` of the ProwJobs (default: all are searched)")
			flags.DurationVar(&in.ReplacedWithin.Duration, "replaced-within", in.ReplacedWithin.Duration,
				"how long the jobs' controller has to make new pods")
		},
		New: func(cluster Cluster, in rescuepods.Inputs) (runbook.Runbook, error) {
			return rescuepods.New(rescuepods.World{Cluster: cluster.Cluster, ClusterID: cluster.ID}, in)
		},
		Watch: func(ctx context.Context, cluster Cluster, in rescuepods.Inputs, say func(string)) runbook.Finding {
			err := rescuepods.Watch(ctx, rescuepods.World{Cluster: cluster.Cluster}, in, say)
			var stranded *stranded.Error
			if errors.As(err, &stranded) {
				return runbook.No("%v", err)
			}
			return runbook.Unknown(err)
		},
	})
}
