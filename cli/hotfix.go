package cli

import "github.com/spf13/cobra"

func newHotfix(a *app) *cobra.Command {
	command := parent("hotfix",
		"Look at a hotfix pointer before it is published to nodes, sign it, and see what came of it")
	command.AddCommand(newHotfixLint(a), newHotfixResolve(a), newHotfixPublishCheck(a), newHotfixKeys(a),
		newHotfixSign(a), newHotfixVerify(a), newHotfixStatus(a))
	return command
}
