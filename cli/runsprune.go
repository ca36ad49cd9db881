package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/journal"
)

// prunedDocument is what salve runs prune deleted.
type prunedDocument struct {
	report.Document
	Runs []string `json:"runs"`
}

func newPrune(a *app) *cobra.Command {
	from, keep, older, broken := &journalFlags{}, 0, time.Duration(0), false
	command := &cobra.Command{
		Use:   "prune",
		Short: "Delete the records and exports of old closed runs",
		Long: fmt.Sprintf(`Delete the records and exports of old closed runs. A run that is open is never
deleted. Without --keep or --older-than the newest %d closed runs of each target are
kept.`, journal.DefaultKeep),
		Example: `  # Delete closed runs that ended more than 90 days ago
  salve runs prune --older-than 2160h --kubeconfig ~/.kube/config
  # Keep the newest ten closed runs of each target
  salve runs prune --keep 10 --journal /srv/salve`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if keep < 0 || older < 0 {
				return usage("invalid --keep or --older-than: they must be above 0")
			}
			kept, err := a.openJournal(command, from)
			if err != nil {
				return err
			}
			retention := journal.Retention{Keep: keep, Broken: broken}
			if older > 0 {
				retention.Since = time.Now().Add(-older)
			} else if keep == 0 {
				retention.Keep = journal.DefaultKeep
			}
			pruned, err := journal.Prune(command.Context(), kept, retention)
			says := fmt.Sprintf("%s deleted in %s.", report.Count(len(pruned), "run", "runs"), kept.Where)
			if a.json() {
				fmt.Fprintln(a.stderr, says)
				if err != nil {
					return err
				}
				return a.document(prunedDocument{report.NewDocument("pruned"), append([]string{}, pruned...)})
			}
			for _, run := range pruned {
				fmt.Fprintln(a.stdout, run)
			}
			fmt.Fprintln(a.stdout, says)
			return err
		},
	}
	from.addFlags(command.Flags())
	command.Flags().IntVar(&keep, "keep", 0, "keep the newest `N` closed runs of each target")
	command.Flags().DurationVar(&older, "older-than", 0, "delete closed runs that ended longer ago, such as 720h")
	command.Flags().BoolVar(&broken, "broken", false,
		"delete also records that are broken or unsealed and that no lease names; they may be evidence: copy them first")
	return command
}
