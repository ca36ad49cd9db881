package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/kube"
)

func newExplain(a *app) *cobra.Command {
	from, all := &journalFlags{role: kube.Reader}, false
	command := &cobra.Command{
		Use:   "explain RUN",
		Short: "Say why a run acted or not, from its journal alone",
		Long: `Say why a run acted or not: what was asked, what was found on which evidence,
and what was decided. Every decision is made again from the record and compared.
What stopped the run is shown with its evidence, the rest in a line each; --all shows
every finding.`,
		Example: `  # Why did it not act?
  salve explain 20261122-021300-4f1a2b
  # All that was found, on which evidence
  salve explain 20261122-021300-4f1a2b --all`,
		Args: aRun(),
		RunE: func(command *cobra.Command, arguments []string) error {
			history, err := a.readHistory(command, from, arguments[0])
			if err != nil {
				return err
			}
			document, err := report.NewExplanation(history)
			if err != nil {
				return err
			}
			switch {
			case a.json():
				err = a.document(document)
			case all:
				_, err = report.Explain(a.stdout, a.width(), a.told(history))
			default:
				err = report.Summarize(a.stdout, a.width(), a.told(history))
			}
			if err != nil {
				return err
			}
			return a.compared(document)
		},
	}
	from.addFlags(command.Flags())
	command.Flags().BoolVar(&all, "all", false, "show every finding with all of its evidence")
	return command
}

// compared says whether every decision came out the same.
func (a *app) compared(document report.Explanation) error {
	out := a.stdout
	if a.json() {
		out = a.stderr
	}
	if document.Different > 0 {
		return &attentionError{fmt.Errorf("%d of %s DIFFERENT when decided again: "+
			"this program decides otherwise than the one that ran, or the record is not its own",
			document.Different, report.Count(len(document.Decisions), "decision", "decisions"))}
	}
	fmt.Fprintf(out, "Decided again from the record: %s, none comes out different.\n",
		report.Count(len(document.Decisions), "decision", "decisions"))
	return nil
}
