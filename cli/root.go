package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/internal/backoff"
	"salve/internal/redact"
	"salve/journal"
)

// execute runs the command that the arguments name and gives the exit code. An
// error is printed here and nowhere else.
func execute(a *app) (code int) {
	a.streams()
	defer func() { code = a.unwritten(code) }()
	defer func() {
		// Go's own exit code for a panic is 2, which would say that nothing was changed.
		if value := recover(); value != nil {
			stack := debug.Stack()
			fmt.Fprintf(a.stderr, "%s\n", redact.Redact(stack))
			code = a.fail(&crashError{panicError{doing: "running the command", value: value, stack: stack}})
		}
	}()
	if err := a.validateRunbooks(); err != nil {
		return a.fail(err)
	}
	root := newRoot(a)
	root.SetArgs(a.arguments)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	defer a.observation.close(func(line string) { fmt.Fprintln(a.stderr, line) })
	if err := root.ExecuteContext(backoff.WithNotice(withApp(context.Background(), a), a.waits)); err != nil {
		return a.fail(err)
	}
	return a.exit
}

const exitCodes = `Exit codes: 0 remediated, nothing to do or deferred; 1 failed; 2 wrong usage;
3 undecided, because a guard could not see; 4 needs attention.`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "salve",
		Short: "Run runbooks on Kubernetes clusters: guards, journaled steps, final checks",
		Long: `Salve runs runbooks on Kubernetes clusters: guards that must hold, steps that are
journaled before they are made, and checks on freshly observed state.

` + exitCodes,
		Example: `  # Try it without a cluster
  salve rehearse
  # Ask the guards; changes nothing
  salve check aks-recreate-pool --subscription 5a1e0000-0000-4000-8000-000000000001 \
    --resource-group fleet --cluster aks-1
  # What ran, and what is open
  salve runs list --kubeconfig ~/.kube/config`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			a.understood = true
			return a.checkGlobalFlags(command)
		},
	}
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(unknownFlag)
	if a.program.Name != "" {
		root.Use = a.program.Name
	}
	if a.program.About != "" {
		root.Short, root.Long, root.Example = a.program.About, a.program.About+".\n\n"+exitCodes, ""
	}
	root.Version = builtFrom().String()
	root.SetVersionTemplate(a.name() + " {{.Version}}\n")
	root.PersistentFlags().StringVarP(&a.output, "output", "o", formTable,
		"how to print the answer: table, wide, json, yaml or jsonpath=TEMPLATE")
	root.PersistentFlags().BoolVar(&a.plain, "plain", false,
		"show progress line by line, without colours; so it is away from a terminal anyway")
	root.PersistentFlags().BoolVar(&a.noColour, "no-color", false, "use no colours (NO_COLOR)")
	root.PersistentFlags().IntVar(&a.verbosity, "verbosity", 0,
		"0 logs what happens, more logs every call too (LOG_VERBOSITY)")
	if a.program.Commands != nil {
		root.AddCommand(a.program.Commands...)
		root.AddCommand(newVersion(a))
		return root
	}
	addGrouped(root, "Runbooks:", newCheck(a), newPlan(a), newRun(a), newUndo(a), newRunbooks(a))
	addGrouped(root, "Runs:", newRuns(a), newResume(a), newApprove(a), newDeny(a),
		newExplain(a), newReplay(a),
		newReport(a))
	addGrouped(root, "Pipelines, nodes and tests:", newPipeline(a), newHotfix(a), newProw(a), newTriage(a))
	addGrouped(root, "Trying it out:", newRehearse(a), newSim(a))
	addGrouped(root, otherGroup, newVersion(a), newDocs(root))
	root.SetHelpCommandGroupID(otherGroup)
	root.SetCompletionCommandGroupID(otherGroup)
	a.complete(root)
	return root
}

const otherGroup = "Other:"

// addGrouped adds commands that help shows below a title; nil is none.
func addGrouped(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, command := range commands {
		if command != nil {
			command.GroupID = title
			root.AddCommand(command)
		}
	}
}

// checkGlobalFlags checks the flags that all commands have.
func (a *app) checkGlobalFlags(command *cobra.Command) error {
	a.restyle()
	if err := a.checkOutput(); err != nil {
		return err
	}
	if err := checkEmptyFlags(command); err != nil {
		return err
	}
	if err := a.readConfigFile(command); err != nil {
		return err
	}
	a.restyle() // the file may say how
	if text := a.lookup("LOG_VERBOSITY"); text != "" {
		verbosity, err := strconv.Atoi(text)
		if err != nil || verbosity < 0 {
			return usage("invalid LOG_VERBOSITY=%q: it must be a whole number from 0", text)
		}
		if !command.Flags().Changed("verbosity") {
			a.verbosity = verbosity
		}
	}
	if a.verbosity < 0 {
		return usage("invalid --verbosity %d: it must be a whole number from 0", a.verbosity)
	}
	return nil
}

// checkEmptyFlags refuses flags that were given nothing: a variable of the caller's that is not set must not silently
// mean the default.
func checkEmptyFlags(command *cobra.Command) (err error) {
	command.Flags().Visit(func(flag *pflag.Flag) {
		if err == nil && flag.DefValue == "" && flag.Value.String() == "" {
			err = usage("--%s is empty", flag.Name)
		}
	})
	return err
}

// noArguments and oneArgument say what is wrong in words.
func noArguments(command *cobra.Command, arguments []string) error {
	if len(arguments) > 0 {
		return unknown(command, arguments[0])
	}
	return nil
}

func oneArgument(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) != 1 {
			return usage("%s requires one argument, %s; got %d", command.CommandPath(), what, len(arguments))
		}
		return nil
	}
}

// aRun takes the name of a run, and what more the command requires.
func aRun(more ...string) cobra.PositionalArgs {
	counted := oneArgument("the name of a run")
	if len(more) > 0 {
		counted = twoArguments("the name of a run", more[0])
	}
	return func(command *cobra.Command, arguments []string) error {
		if err := counted(command, arguments); err != nil {
			return err
		}
		if err := journal.CheckRunName(arguments[0]); err != nil {
			return usage("%v. hint: salve runs list", err)
		}
		return nil
	}
}

func twoArguments(first, second string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) != 2 {
			return usage("%s requires two arguments, %s and %s; got %d", command.CommandPath(), first, second, len(arguments))
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
			var names []string
			for _, below := range command.Commands() {
				if below.IsAvailableCommand() {
					names = append(names, below.Name())
				}
			}
			return usage("%[1]s requires a command: %[2]s. hint: %[1]s --help",
				command.CommandPath(), strings.Join(names, ", "))
		},
	}
}

// unknownFlag adds to the error of a flag that isn't there the one that it may stand for.
func unknownFlag(command *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return err
	}
	var names []string
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	if near := nearest(missing.GetSpecifiedName(), names); near != "" && len(missing.GetSpecifiedName()) > 1 {
		return fmt.Errorf("%w. Did you mean --%s?", err, near)
	}
	return fmt.Errorf("%w. hint: %s --help", err, command.CommandPath())
}

// unknown is the error of a word that is no command, with the commands that it may stand for.
func unknown(command *cobra.Command, word string) error {
	if !command.HasSubCommands() {
		return usage("unexpected argument %q. hint: %s --help", word, command.CommandPath())
	}
	var names []string
	for _, below := range command.Commands() {
		if below.IsAvailableCommand() {
			names = append(names, below.Name())
		}
	}
	if near := nearest(word, names); near != "" {
		return usage("unknown command %q. Did you mean %q?", word, near)
	}
	return usage("unknown command %q. hint: %s --help", word, command.CommandPath())
}
