package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

// execute runs the command that the arguments name and gives the exit code. An
// error is printed here and nowhere else.
func execute(a *app) int {
	a.streams()
	root := newRoot(a)
	root.SetArgs(a.arguments)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	if err := root.ExecuteContext(withApp(context.Background(), a)); err != nil {
		return a.fail(err)
	}
	return a.exit
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "salve",
		Short: "Recover clusters by runbooks that say what they see before they act",
		Long: `Salve recovers clusters by runbooks: guards that must hold, steps that are
journaled before they are made, and checks on freshly observed state.

Try it without a cluster:   salve rehearse
Ask and change nothing:     salve plan aks-recreate-pool --help

Exit codes: 0 remediated, nothing to do or deferred; 1 failed; 2 wrong usage;
3 undecided, because a guard could not see; 4 needs attention.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			a.understood = true
			return a.settle(command)
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&a.output, "output", "table", "how to print the answer: table or json")
	root.PersistentFlags().IntVar(&a.verbosity, "verbosity", 0, "0 logs what happens, more logs every call too (LOG_VERBOSITY)")
	if a.program.Commands != nil {
		root.Use, root.Short, root.Long = a.program.Name, a.program.About, ""
		root.AddCommand(a.program.Commands...)
		root.AddCommand(newVersion(a))
		return root
	}
	root.AddCommand(newRun(a), newPlan(a), newCheck(a), newResume(a), newRuns(a), newExplain(a), newRehearse(a), newPipeline(a), newSim(a), newHotfix(a), newVersion(a))
	return root
}

// settle checks the flags that all commands have.
func (a *app) settle(command *cobra.Command) error {
	if a.output != "table" && a.output != "json" {
		return usage("--output %q: it is table or json", a.output)
	}
	if text := a.lookup("LOG_VERBOSITY"); text != "" {
		verbosity, err := strconv.Atoi(text)
		if err != nil || verbosity < 0 {
			return usage("LOG_VERBOSITY=%q: it must be a whole number from 0", text)
		}
		if !command.Flags().Changed("verbosity") {
			a.verbosity = verbosity
		}
	}
	if a.verbosity < 0 {
		return usage("--verbosity %d: it must be a whole number from 0", a.verbosity)
	}
	return nil
}

// noArguments and oneArgument say what is wrong in words.
func noArguments(command *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return usage("there is no %q here; see %s --help", arguments[0], command.CommandPath())
	}
	return nil
}

func oneArgument(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) != 1 {
			return usage("%s takes one argument, %s; it got %d", command.CommandPath(), what, len(arguments))
		}
		return nil
	}
}

func twoArguments(first, second string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) != 2 {
			return usage("%s takes two arguments, %s and %s; it got %d", command.CommandPath(), first, second, len(arguments))
		}
		return nil
	}
}

// parent is a command that only holds others: alone it shows them, and what it
// doesn't know is wrong usage.
func parent(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return usage("%s wants to know what; see %s --help", command.CommandPath(), command.CommandPath())
		},
	}
}
