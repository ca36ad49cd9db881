package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/diagnostic"
	"salve/internal/report"
	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
)

func newTriageCatalogue(a *app) *cobra.Command {
	command := parent("catalogue", "Check a catalogue of known failures")
	command.AddCommand(newTriageCatalogueLint(a))
	return command
}

func newTriageCatalogueLint(a *app) *cobra.Command {
	form := "table"
	command := &cobra.Command{
		Use: "lint DIR [PATH…]", Short: "Say what is wrong with the signatures of a catalogue",
		Long: `Lint holds a catalogue against rules: signatures that overlap, that can't be reached, that have expired,
that are expensive, and whose examples don't match. With results it also says which signatures
are never found, are found on more than 10 % of passing scenarios, or have a name that the
scenarios contradict.

Exit codes: 0 no error; 1 an error, such as an example that doesn't match; 2 wrong usage.`,
		Example: `  salve triage catalogue lint .triage/catalogue
  salve triage catalogue lint .triage/catalogue artifacts/`,
		Args: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usage("%s requires the DIR of a catalogue", command.CommandPath())
			}
			return nil
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			if a.json() {
				form = "json"
			}
			if err := checkForm(form, "table", "json"); err != nil {
				return err
			}
			return a.triageCatalogueLint(command.Context(), form, arguments[0], arguments[1:])
		},
	}
	command.Flags().StringVarP(&form, "output", "o", form, "how to print the answer: table or json")
	return command
}

// catalogueDocument is what salve triage catalogue lint found.
type catalogueDocument struct {
	report.Document
	Exit        int             `json:"exitCode"`
	Diagnostics diagnostic.List `json:"diagnostics"`
}

func (a *app) triageCatalogueLint(ctx context.Context, form, folder string, paths []string) error {
	loaded, err := catalogue.Load(folder)
	var invalid *catalogue.Invalid
	var found diagnostic.List
	switch {
	case errors.As(err, &invalid):
		found = invalid.Found
	case err != nil:
		return unfit(err)
	default:
		options := catalogue.LintOptions{Now: time.Now(), PassingShare: triage.Default().SignaturePassing}
		if options.Statistics, err = statisticsOf(ctx, loaded, paths); err != nil {
			return err
		}
		found = catalogue.Lint(loaded, options)
	}
	if found.Errors() > 0 {
		a.exit = exitFailed
	}
	if form == "json" {
		return a.document(catalogueDocument{
			report.NewDocument("triage-catalogue"), a.exit, append(diagnostic.List{}, found...),
		})
	}
	if err := diagnostic.Text(a.stdout, found); err != nil {
		return err
	}
	if len(found) == 0 {
		_, err = fmt.Fprintf(a.stdout, "%s, nothing wrong\n", counted(len(loaded.All()), "signature"))
	}
	return err
}

// statisticsOf counts which scenarios show which signatures; nil without results.
func statisticsOf(ctx context.Context, c *catalogue.Catalogue, paths []string) (*catalogue.Statistics, error) {
	if len(paths) == 0 {
		return nil, nil //nolint:nilnil // rules that need results are left out
	}
	result, err := analysis.Analyze(ctx, analysis.Request{
		Paths: paths, Catalogue: c, Now: time.Now(), Thresholds: triage.Default(),
	})
	if err != nil {
		return nil, unfit(err)
	}
	return result.Statistics(), nil
}
