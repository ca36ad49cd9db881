package stalewebhook

import (
	"github.com/spf13/pflag"

	"salve/cli"
	"salve/runbook"
)

// Provider offers the runbook on the command line.
func Provider() cli.Provider {
	return cli.OnCluster(cli.Definition[cli.Cluster, Inputs]{
		Name:  Name,
		Short: "Delete a validating webhook configuration whose services are gone",
		Flags: func(in *Inputs, flags *pflag.FlagSet) {
			flags.StringVar(&in.Configuration, "configuration", "", "`name` of the ValidatingWebhookConfiguration")
		},
		New: func(cluster cli.Cluster, in Inputs) (runbook.Runbook, error) {
			return New(cluster.Cluster, cluster.ID, in)
		},
		Replayed: Replayed,
	})
}
