package cli

import (
	"github.com/spf13/cobra"
)

func newRun(a *app) *cobra.Command {
	return newVerb(a, act, "Run a runbook: look, then act, then check")
}

// newVerb is a command that has the registered runbooks below it.
func newVerb(a *app, verb verb, short string) *cobra.Command {
	command := parent(string(verb), short)
	for _, definition := range a.entries() {
		command.AddCommand(newRunbookCommand(a, verb, definition))
	}
	return command
}

func newRunbookCommand(a *app, verb verb, definition entry) *cobra.Command {
	asked := &request{}
	command := &cobra.Command{
		Use: definition.name(), Short: definition.short(), Long: definition.long(), Args: noArguments,
		Example: a.examples(verb, definition),
		RunE: func(command *cobra.Command, _ []string) error {
			if err := definition.read(a, asked, command.Flags()); err != nil {
				return err
			}
			if err := asked.read(a, command.Flags()); err != nil {
				return err
			}
			if verb == act && asked.dryRun {
				return a.perform(command, definition, asked, plan)
			}
			return a.perform(command, definition, asked, verb)
		},
	}
	groupFlags(command)
	a.addFlags(command, verb, definition, asked)
	return command
}

// addFlags are all flags of a runbook's command.
func (a *app) addFlags(command *cobra.Command, verb verb, definition entry, asked *request) {
	definition.addFlags(asked, command.Flags())
	asked.addFlags(command.Flags())
	asked.telemetry.addFlags(command.Flags())
	if verb == act {
		command.Flags().BoolVar(&asked.dryRun, "dry-run", false, "change nothing: the same as plan (DRY_RUN)")
		asked.retention.addFlag(command.Flags())
		command.Flags().DurationVar(&asked.waitForLease, "wait-for-lease", 0,
			"how long to wait while another runner is at work on the target")
	}
	if verb == check && definition.watches() {
		a.addWatch(command, definition, asked)
	}
}

// perform connects, executes the invocation and prints the answer.
func (a *app) perform(command *cobra.Command, definition entry, asked *request, verb verb) error {
	a.logCalls()
	factory, err := definition.factory(a, asked)
	if err != nil {
		return err
	}
	if err := a.observe(command.Context(), asked.telemetry, asked.namespace, factory.cluster); err != nil {
		return err
	}
	e := newInvocation(a, asked, factory, verb)
	results, err := e.run(command.Context())
	return e.answer(command.Context(), results, err)
}
