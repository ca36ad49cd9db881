package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"salve/journal"
)

// withRoute adds those flags of a record's route that are not among the flags.
func withRoute(flags, route []string) []string {
	all := slices.Clone(flags)
	for i := 0; i+1 < len(route); i += 2 {
		if !slices.Contains(all, route[i]) {
			all = append(all, route[i], route[i+1])
		}
	}
	return all
}

// sameCloud refuses to resume a run in another cloud than it was started in because a flag was left out. The record
// alone leads nowhere: what it names is in the hint, for the operator to say.
func sameCloud(command *cobra.Command, from *journalFlags, history *journal.History) error {
	given := from.cloud.typed()
	var missing []string
	for i := 0; i+1 < len(history.Header.Route); i += 2 {
		name, value := history.Header.Route[i], history.Header.Route[i+1]
		if name != "--cloud" && name != "--arm-endpoint" || command.Flags().Changed(strings.TrimPrefix(name, "--")) {
			continue
		}
		if !slices.Contains(given, name) {
			missing = append(missing, name, value)
		}
	}
	if len(missing) == 0 || command.Flags().Changed("arm-endpoint") {
		return nil
	}
	return usage("run %q was started with %s, and this command goes to another cloud. hint: %s", history.Header.Run,
		shell(missing), resuming(history, from))
}
