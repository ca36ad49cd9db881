package cli

import "github.com/spf13/cobra"

func newSim(a *app) *cobra.Command {
	command := parent("sim", "The embedded Azure as a service, for test environments")
	command.AddCommand(newSimServe(a))
	return command
}
