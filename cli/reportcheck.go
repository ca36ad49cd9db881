package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/internal/report/consistency"
	"salve/internal/report/page"
	"salve/kube"
)

// reportCheckRequest is what the user asked of salve report check.
type reportCheckRequest struct {
	strict bool
	form   string
}

func newReportCheck(a *app) *cobra.Command {
	asked, from := &reportCheckRequest{}, &journalFlags{role: kube.Reader}
	forms := []string{"text", "json"}
	command := &cobra.Command{
		Use: "check FILE [RUN|INCIDENT-FILE…]", Short: "Find where a post-mortem contradicts itself or its journals",
		Long: `Check reads a post-mortem in Markdown and finds where it contradicts itself: durations against
times, counts in two places, events out of order, times that there are not, dates outside of the
incident, what went poorly without an action item, action items without an owner or a link, and
placeholders. With runs, of a journal or in incident files, it also finds where times, sources,
outcomes and figures contradict their records. It changes nothing.

Exit codes: 0 nothing was found; 1 something was; 2 wrong usage, or FILE can't be read; 4 a record
is broken.`,
		Example: `  salve report check postmortem.md
  # Against the journal of the run that it tells of
  salve report check postmortem.md 20261122-021300-4f1a2b`,
		Args: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usage("%s requires a FILE, the post-mortem in Markdown", command.CommandPath())
			}
			return checkRuns(arguments[1:])
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			if err := checkForm(asked.form, forms...); err != nil {
				return err
			}
			options := consistency.Options{Strict: asked.strict}
			var err error
			if options.Runs, err = a.histories(command, from, arguments[1:]); err != nil {
				return err
			}
			return a.reportCheck(asked, arguments[0], options)
		},
	}
	from.addFlags(command.Flags())
	outputFlag(command.Flags(), &asked.form, forms...)
	command.Flags().BoolVar(&asked.strict, "strict", false,
		"also name each line of what went poorly that no action item takes up")
	return command
}

// reportFindingsDocument is what salve report check found.
type reportFindingsDocument struct {
	report.Document
	Exit     int                   `json:"exitCode"`
	Says     string                `json:"says"`
	Findings []consistency.Finding `json:"findings"`
}

func (a *app) reportCheck(asked *reportCheckRequest, path string, options consistency.Options) error {
	raw, err := readPostMortem(path)
	if err != nil {
		return err
	}
	if page.Is(raw) {
		return usage("%s is an HTML page; check reads Markdown. hint: salve report RUN --write postmortem.md", path)
	}
	found, err := consistency.Check(raw, options)
	if err != nil {
		return usage("%s: %v", path, err)
	}
	if len(found) > 0 {
		a.exit = exitFailed
	}
	says := fmt.Sprintf("%s: nothing was found.", path)
	if len(found) > 0 {
		says = fmt.Sprintf("%s: %s.", path, report.Count(len(found), "finding", "findings"))
	}
	if asked.form == "json" {
		fmt.Fprintln(a.stderr, says)
		return a.document(reportFindingsDocument{
			report.NewDocument("report-findings"), a.exit, says, append([]consistency.Finding{}, found...),
		})
	}
	_, err = fmt.Fprint(a.stdout, findingsText(path, found), says, "\n")
	return err
}

// readPostMortem reads a regular file: a pipe or a device could keep the command waiting for ever.
func readPostMortem(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, usage("%v", err)
	case !info.Mode().IsRegular():
		return nil, usage("%s is not a regular file", path)
	}
	raw, err := readText(path, consistency.MaxSize)
	if err != nil {
		return nil, usage("%v", err)
	}
	return raw, nil
}

// findingsText is each finding with the places that contradict each other.
func findingsText(path string, found []consistency.Finding) string {
	var text strings.Builder
	for _, f := range found {
		fmt.Fprintf(&text, "%s:%d: %s [%s]\n", path, f.Line, f.Message, f.Rule)
		for _, quote := range f.Quotes {
			where := fmt.Sprintf("line %d", quote.Line)
			if quote.Source != "" {
				where = fmt.Sprintf("run %s, entry %d", quote.Source, quote.Line)
			}
			fmt.Fprintf(&text, "    %s: %s\n", where, quote.Text)
		}
	}
	return text.String()
}
