package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// grouped marks commands that act on a target: their help tells what names the target from what bounds the act.
const grouped = "salve/grouped-flags"

func groupFlags(command *cobra.Command) { command.Annotations = map[string]string{grouped: "yes"} }

// isSafety tells whether a flag bounds what a command does, or says where it is recorded and locked.
func isSafety(name string) bool {
	return slices.Contains([]string{
		"dry-run", "override", "wait-for-lease", "journal", "journal-namespace", "lease-duration", "answer", "allow-older",
		"logs", "retention", "detailed-exitcode", "plan", "yes", "approve-by", "approval-policy", "approval-wait",
		"four-eyes", "keep-going", "fail-fast", "grace", "concurrency",
		"request-key", "expires", "narrow", "key", "public", "reason",
	}, name)
}

// isMonitoring tells whether a flag has other systems told what a run does.
func isMonitoring(name string) bool {
	return slices.Contains([]string{"metrics-listen", "metrics-file", "notify", "kubernetes-events"}, name)
}

// help prints what a command does, examples, and its flags.
func help(command *cobra.Command, _ []string) {
	var text strings.Builder
	about := command.Long
	if about == "" {
		about = command.Short + "."
	}
	fmt.Fprintf(&text, "%s\n", strings.TrimSpace(about))
	if command.Example != "" {
		fmt.Fprintf(&text, "\nExamples:\n%s\n", strings.TrimRight(command.Example, "\n"))
	}
	if command.Runnable() {
		fmt.Fprintf(&text, "\nUsage:\n  %s\n", command.UseLine())
	}
	if command.HasAvailableSubCommands() {
		for _, group := range append(command.Groups(), &cobra.Group{Title: "Commands:"}) {
			title := "\n" + group.Title + "\n"
			for _, below := range command.Commands() {
				if below.IsAvailableCommand() && below.GroupID == group.ID {
					fmt.Fprintf(&text, "%s  %-*s  %s\n", title, command.NamePadding(), below.Name(), below.Short)
					title = ""
				}
			}
		}
	}
	target, safety := pflag.NewFlagSet("", 0), pflag.NewFlagSet("", 0)
	monitoring, global := pflag.NewFlagSet("", 0), pflag.NewFlagSet("", 0)
	global.AddFlagSet(command.InheritedFlags())
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		switch {
		case flag.Name == "help" || command.PersistentFlags().Lookup(flag.Name) != nil:
			global.AddFlag(flag)
		case command.Annotations[grouped] != "" && isSafety(flag.Name):
			safety.AddFlag(flag)
		case command.Annotations[grouped] != "" && isMonitoring(flag.Name):
			monitoring.AddFlag(flag)
		default:
			target.AddFlag(flag)
		}
	})
	own := "Flags"
	if command.Annotations[grouped] != "" {
		own = "Target flags"
	}
	for _, group := range []struct {
		title string
		flags *pflag.FlagSet
	}{{own, target}, {"Safety flags", safety}, {"Monitoring flags", monitoring}, {"Global flags", global}} {
		if group.flags.HasAvailableFlags() {
			fmt.Fprintf(&text, "\n%s:\n%s", group.title, group.flags.FlagUsages())
		}
	}
	command.Print(text.String())
}

// examples show a command of a runbook, and what comes before and after it.
func (a *app) examples(asked verb, definition entry) string {
	runbook, target := definition.name(), definition.example()
	if target == "" {
		return ""
	}
	var text strings.Builder
	example := func(about, command string) {
		fmt.Fprintf(&text, "  # %s\n  %s %s %s\n", about, a.name(), command, target)
	}
	switch asked {
	case check:
		example("Ask the guards; changes nothing", "check "+runbook)
		example("Then show the steps; changes nothing", "plan "+runbook)
	case plan:
		example("Ask the guards and show the steps; changes nothing", "plan "+runbook)
		example("Then act", "run "+runbook)
	default:
		example("Ask the guards and show the steps; changes nothing", "run "+runbook+" --dry-run")
		example("Act: ask, change, check", "run "+runbook)
		example("Wait while another runner holds the target", "run "+runbook+" --wait-for-lease 10m")
	}
	return text.String()
}
