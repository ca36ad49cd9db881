package cli

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"salve/internal/clock"
	"salve/journal"
)

// completionPatience bounds what a press of the tab key waits for.
const completionPatience = 3 * time.Second

// complete has shells complete values besides commands and flags: runs, pools, contexts, scenarios and the words that a
// flag takes. What can't be found out completes to nothing: a shell has no place for errors.
func (a *app) complete(command *cobra.Command) {
	switch {
	case command.DisableFlagParsing:
		command.ValidArgsFunction = a.completeDelegated
	case strings.Contains(command.Use, " RUN"):
		command.ValidArgsFunction = a.completeRuns
	}
	for name, values := range map[string]cobra.CompletionFunc{
		"pool": a.completePools, "context": a.completeContexts,
		"cloud":            cobra.FixedCompletions([]string{"public", "china", "usgov"}, cobra.ShellCompDirectiveNoFileComp),
		"on-blocked-drain": cobra.FixedCompletions([]string{"wait", "ask", "force"}, cobra.ShellCompDirectiveNoFileComp),
	} {
		if flag := command.LocalNonPersistentFlags().Lookup(name); flag != nil && command.Name() != "config" {
			_ = command.RegisterFlagCompletionFunc(name, values) // it is the only one
		}
	}
	if command.PersistentFlags().Lookup("output") != nil {
		forms := []string{formTable, formWide, formJSON, formYAML, formJSONPath}
		_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, below := range command.Commands() {
		a.complete(below)
	}
}

// flagsGiven are the flags about journals and clusters of a command that is being completed.
func flagsGiven(a *app, command *cobra.Command) (*journalFlags, error) {
	from := &journalFlags{}
	own := &cobra.Command{}
	from.addFlags(own.Flags())
	for _, name := range []string{
		"journal", "journal-namespace", "kubeconfig", "context", "subscription", "resource-group", "cluster", "cloud",
		"arm-endpoint", "arm-audience", "authority-host", "arm-ca",
	} {
		if flag := command.Flags().Lookup(name); flag != nil && flag.Changed {
			if err := own.Flags().Set(name, flag.Value.String()); err != nil {
				return nil, err
			}
		}
	}
	return from, from.read(a, own.Flags())
}

func (a *app) completeRuns(command *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // a folder, or a file
	}
	from, err := flagsGiven(a, command)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := clock.WithTimeout(context.Background(), clock.Real{}, completionPatience)
	defer cancel()
	places, _ := from.places(a)
	var names []string
	for _, place := range places {
		if kept, err := place.open(ctx); err == nil {
			runs, _ := kept.Runs(ctx)
			if answers := command.Name() == "approve" || command.Name() == "deny"; answers {
				runs = slices.DeleteFunc(runs, func(run string) bool {
					_, err := journal.ReadWaiting(ctx, kept, run)
					return err != nil
				})
			}
			names = append(names, runs...)
		}
	}
	slices.Reverse(names) // the newest is the likeliest
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (a *app) completePools(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	from, err := flagsGiven(a, command)
	if err != nil || !from.named() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := clock.WithTimeout(context.Background(), clock.Real{}, completionPatience)
	defer cancel()
	world, err := a.connect(from.cloud, from.inputs)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cluster, err := world.Azure.Cluster(ctx, from.inputs.ResourceGroup, from.inputs.Cluster)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, pool := range cluster.Pools {
		names = append(names, pool.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeContexts(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	from := kubernetesFlags{}
	if flag := command.Flags().Lookup("kubeconfig"); flag != nil {
		from.kubeconfig = flag.Value.String()
	}
	if err := from.orDefault(a); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	config, err := clientcmd.LoadFromFile(from.kubeconfig)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for name := range config.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeDelegated asks the simulator, whose commands these are.
func (a *app) completeDelegated(command *cobra.Command, given []string, word string) (
	[]string, cobra.ShellCompDirective,
) {
	path, err := findSimulator()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := clock.WithTimeout(context.Background(), clock.Real{}, completionPatience)
	defer cancel()
	asked := []string{cobra.ShellCompNoDescRequestCmd}
	if command.Name() == "rehearse" {
		asked = append(asked, command.Name())
	}
	answer, err := exec.CommandContext(ctx, path, append(append(asked, given...), word)...).Output()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for line := range strings.Lines(string(answer)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ":") {
			words = append(words, line)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
