package cli

import (
	"github.com/spf13/cobra"
)

func newRun(a *app) *cobra.Command {
	return newVerb(a, act, "Run a runbook: ask its guards, do its steps, check the result")
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
			if err := asked.readBound(command, a, verb, definition); err != nil {
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
	switch verb {
	case act:
		asked.telemetry.addFlags(command.Flags())
		asked.addRunFlags(command.Flags())
	case plan:
		asked.telemetry.addMetricsFlags(command.Flags())
		a.addPlanOutput(command, asked)
	case check:
		asked.telemetry.addMetricsFlags(command.Flags())
	}
	if verb != act {
		command.Flags().BoolVar(&a.detailedExit, "detailed-exitcode", false,
			"exit 2 when a run would act and 0 when there is nothing to do; wrong usage is 1 then")
	}
	if verb == check && definition.watches() {
		a.addWatch(command, definition, asked)
	}
}

// perform connects, executes the invocation and prints the answer.
func (a *app) perform(command *cobra.Command, definition entry, asked *request, verb verb) error {
	a.logCalls()
	factory, err := asked.factoryFor(command, a, definition)
	if err != nil {
		return err
	}
	if err := a.observe(command.Context(), asked.telemetry, asked.namespace, factory.cluster); err != nil {
		return err
	}
	e := newInvocation(a, asked, factory, verb)
	results, err := e.run(command.Context())
	if err == nil {
		err = e.writePlan(results)
	}
	return e.answer(command.Context(), results, err)
}

// readBound takes what binds a run to a plan, and the inputs of the runbook unless the plan's file holds them.
func (r *request) readBound(command *cobra.Command, a *app, verb verb, definition entry) error {
	switch verb {
	case plan:
		if err := a.readPlanOutput(command, r); err != nil {
			return err
		}
	case act:
		if err := r.readPlan(definition.name()); err != nil {
			return err
		}
		if err := r.approvalFlags.read(a, command.Flags()); err != nil {
			return err
		}
	case check:
	}
	if r.fromPlan(command.Flags()) {
		return nil
	}
	return definition.read(a, r, command.Flags())
}
