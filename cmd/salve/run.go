package main

import (
	"github.com/spf13/cobra"

	"salve/runbooks/recreatepool"
)

func newRun(a *app) *cobra.Command {
	command := parent("run", "Run a runbook: look, then act, then check")
	asked := &request{}
	book := &cobra.Command{
		Use:   recreatepool.Name,
		Short: "Recreate an AKS agent pool whose scale set can't be written any more",
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := asked.read(a, command); err != nil {
				return err
			}
			if asked.dryRun {
				return a.perform(command, asked, plan)
			}
			return a.perform(command, asked, act)
		},
	}
	asked.addFlags(book.Flags())
	book.Flags().BoolVar(&asked.dryRun, "dry-run", false, "change nothing: the same as plan (DRY_RUN)")
	book.Flags().DurationVar(&asked.waitForLease, "wait-for-lease", 0, "how long to wait while another runner is at work on the pool")
	command.AddCommand(book)
	return command
}

// perform connects, does the errand and prints the answer.
func (a *app) perform(command *cobra.Command, asked *request, verb verb) error {
	a.logCalls()
	world, err := a.connect(asked.cloud, asked.inputs)
	if err != nil {
		return err
	}
	e := &errand{request: asked, app: a, verb: verb, world: world, watch: &watch{app: a, clock: world.Clock}}
	results, err := e.do(command.Context())
	return e.answer(command.Context(), results, err)
}
