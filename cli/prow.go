package cli

import "github.com/spf13/cobra"

func newProw(a *app) *cobra.Command {
	command := parent("prow", "Check the configuration of a Prow instance, and watch a live one")
	command.AddCommand(newProwCheck(a), newProwWatch(a))
	return command
}
