package cli

import (
	"github.com/spf13/pflag"

	"salve/runbook"
	"salve/runbooks/removeoperator"
)

// removeOperator provides remove-operator.
func removeOperator() Provider {
	return OnCluster(Definition[Cluster, removeoperator.Inputs]{
		Name:     removeoperator.Name,
		Short:    "Remove what a retired operator left behind, including finalizers whose controller is gone",
		Example:  "--group example.com --namespace operators",
		Defaults: removeoperator.Defaults(),
		Flags: func(in *removeoperator.Inputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Group, "group", "", "the operator's API `group`, with all groups below it")
			flags.StringVarP(&in.Namespace, "namespace", "n", "",
				"the operator's own `namespace`, which is deleted with all that is in it")
			flags.StringArrayVar(&in.Selectors, "selector", nil,
				"label `selector` of what is the operator's own elsewhere (repeatable)")
			flags.StringArrayVar(&in.Finalizers, "finalizer", nil,
				"`finalizer` that may be removed besides those of the group (repeatable)")
			flags.BoolVar(&in.StopOperator, "stop-operator", false, "scale the operator to zero first")
			flags.StringVar(&in.AllowCascade, "allow-cascade", "",
				"the `reason` for taking along objects outside of the group that are owned by ones inside it")
			flags.StringVar(&in.Bundle, "bundle", "",
				"`file` for the export; without it the export is kept with the journal, up to 64 MiB")
			flags.DurationVar(&in.CascadeWait.Duration, "cascade-wait", in.CascadeWait.Duration,
				"how long deletions are waited for before a finalizer is removed")
			flags.DurationVar(&in.Budget.Duration, "budget", in.Budget.Duration, "the time that a run may take in all")
		},
		Missing: func(in removeoperator.Inputs) (missing []Flag) {
			if in.Group == "" {
				missing = append(missing, Flag{Name: "group", Example: "example.com"})
			}
			if in.Namespace == "" {
				missing = append(missing, Flag{Name: "namespace", Example: "operators"})
			}
			return missing
		},
		New: func(cluster Cluster, in removeoperator.Inputs) (runbook.Runbook, error) {
			return removeoperator.New(removeoperator.World{Cluster: cluster.Cluster, ClusterID: cluster.ID}, in)
		},
		Replayed: removeoperator.Replayed,
	})
}
