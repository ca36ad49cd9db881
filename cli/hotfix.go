package cli

import "github.com/spf13/cobra"

func newHotfix(a *app) *cobra.Command {
	command := parent("hotfix", "Look at a hotfix pointer before it is published to nodes")
	command.AddCommand(newHotfixLint(a), newHotfixResolve(a), newHotfixPublishCheck(a))
	return command
}
