package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"salve/internal/report"
)

// offered is one runbook in the list of those that the program has.
type offered struct {
	Name  string `json:"name"`
	Short string `json:"short"`
	// Example is a set of flags that name a target.
	Example string `json:"example,omitempty"`
	// Watches tells whether check --watch looks on.
	Watches bool `json:"watches"`
}

// runbooksDocument is the runbooks of a program.
type runbooksDocument struct {
	report.Document
	Runbooks []offered `json:"runbooks"`
}

func newRunbooks(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "runbooks", Short: "List the runbooks of this program", Args: noArguments,
		Example: fmt.Sprintf(`  # What there is to run
  %[1]s runbooks
  # Their names alone, for a script
  %[1]s runbooks -o jsonpath='{.runbooks[*].name}'`, a.name()),
		RunE: func(*cobra.Command, []string) error {
			all, rows := []offered{}, [][]string{}
			for _, entry := range a.entries() {
				all = append(all, offered{entry.name(), entry.short(), entry.example(), entry.watches()})
				row := []string{entry.name(), entry.short()}
				if a.wide() {
					row = []string{entry.name(), entry.short(), entry.example()}
				}
				rows = append(rows, row)
			}
			if a.json() {
				return a.document(runbooksDocument{report.NewDocument("runbooks"), all})
			}
			heading := []string{"NAME", "WHAT IT DOES"}
			if a.wide() {
				heading = append(heading, "EXAMPLE")
			}
			says := fmt.Sprintf("%s. hint: %s check NAME --help", report.Count(len(all), "runbook", "runbooks"), a.name())
			err := errors.Join(report.Table(a.stdout, a.width(), heading, rows), blank(a))
			fmt.Fprintln(a.stdout, says)
			return err
		},
	}
}
