package cli

import "github.com/spf13/cobra"

func newProw(a *app) *cobra.Command {
	command := parent("prow", "Check the configuration of a Prow instance, watch a live one, prepare the way around it")
	command.AddCommand(newProwCheck(a), newProwWatch(a), newProwBreakGlass(a))
	return command
}
