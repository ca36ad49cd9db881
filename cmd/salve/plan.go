package main

import (
	"github.com/spf13/cobra"

	"salve/runbooks/recreatepool"
)

func newPlan(a *app) *cobra.Command {
	return newLook(a, plan, "Ask the guards and print the plan; change nothing")
}

func newCheck(a *app) *cobra.Command {
	return newLook(a, check, "Ask the guards and print what they found; change nothing")
}

func newLook(a *app, verb verb, short string) *cobra.Command {
	command := parent(string(verb), short)
	asked := &request{}
	book := &cobra.Command{
		Use:   recreatepool.Name,
		Short: short,
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := asked.read(a, command); err != nil {
				return err
			}
			return a.perform(command, asked, verb)
		},
	}
	asked.addFlags(book.Flags())
	command.AddCommand(book)
	return command
}
