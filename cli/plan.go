package cli

import "github.com/spf13/cobra"

func newPlan(a *app) *cobra.Command {
	return newVerb(a, plan, "Ask the guards and print the plan; change nothing")
}

func newCheck(a *app) *cobra.Command {
	return newVerb(a, check, "Ask the guards and print what they found; change nothing")
}
