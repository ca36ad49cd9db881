package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/console"
	"salve/internal/report"
	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/history"
)

// past is the history that a triage asks and adds to.
type past struct {
	history *history.History
	asked   *analysis.Recorded
	notes   []string
}

// openPast opens the folder; nil without one.
func openPast(ctx context.Context, folder string, identity analysis.Identity, now time.Time) (*past, error) {
	if folder == "" {
		return nil, nil //nolint:nilnil // nobody named a history
	}
	h, err := openHistory(ctx, folder)
	if err != nil {
		return nil, err
	}
	p := &past{history: h, asked: analysis.Record(h, identity, now)}
	for _, problem := range h.Problems {
		p.notes = append(p.notes, "history: "+problem.String())
	}
	if identity.Change == "" {
		p.notes = append(p.notes, "history: which change is under test is not known (--change), so that no run counts as "+
			"one of another change")
	}
	return p, nil
}

// openHistory reads the folder, with a cache where there can be one.
func openHistory(ctx context.Context, folder string) (*history.History, error) {
	options := history.Options{Grouping: analysis.Grouping()}
	if cache, err := history.CacheFolder(); err == nil { // without one it only takes longer
		options.Cache = cache
	}
	h, err := history.Open(ctx, folder, options)
	if err != nil {
		return nil, fmt.Errorf("--history: %w", err)
	}
	return h, nil
}

func (p *past) record() error {
	entry := p.asked.Entry()
	if entry == nil {
		return nil
	}
	if _, err := p.history.Record(*entry); err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	return nil
}

// triageHistoryRequest is what the user asked of salve triage history.
type triageHistoryRequest struct {
	days, weeks int
	form        string
}

func newTriageHistory(a *app) *cobra.Command {
	asked := &triageHistoryRequest{}
	command := &cobra.Command{
		Use: "history DIR", Short: "Count what earlier runs showed: signatures with their trend, and what has none",
		Long: `History counts, for each signature and for each group that no signature knows, the builds that showed
it. A build counts once, however many of its tests failed and however often it was triaged.`,
		Example: `  salve triage history .triage/history
  salve triage history .triage/history --days 90 --output json`,
		Args: oneArgument("the DIR of a history"),
		RunE: func(command *cobra.Command, arguments []string) error {
			if asked.days < 1 || asked.weeks < 1 || asked.weeks > 104 {
				return usage("--days and --weeks: whole numbers from 1, at most 104 weeks")
			}
			if a.json() {
				asked.form = "json"
			}
			if err := checkForm(asked.form, "table", "json"); err != nil {
				return err
			}
			return a.triageHistory(command.Context(), arguments[0], asked, time.Now())
		},
	}
	command.Flags().IntVar(&asked.days, "days", 30, "count the last so many `days`")
	command.Flags().IntVar(&asked.weeks, "weeks", 8, "`weeks` of the trend")
	command.Flags().StringVarP(&asked.form, "output", "o", "table", "how to print the answer: table or json")
	return command
}

// historyLine is one subject with its trend.
type historyLine struct {
	history.Seen
	Trend     []history.Week `json:"trend"`
	Escalated bool           `json:"escalated"`
}

// historyDocument is what the history of triage counts.
type historyDocument struct {
	report.Document
	Builds        int               `json:"builds"`
	Days          int               `json:"days"`
	Signatures    []historyLine     `json:"signatures"`
	Uncategorised []historyLine     `json:"uncategorised"`
	Problems      []history.Problem `json:"problems,omitempty"`
}

func (a *app) triageHistory(ctx context.Context, folder string, asked *triageHistoryRequest, now time.Time) error {
	h, err := openHistory(ctx, folder)
	if err != nil {
		return err
	}
	limits := triage.Default()
	rule := history.Rule{At: limits.EscalateAt, Days: limits.EscalateDays, Below: limits.CalmBelow}
	lines := func(seen []history.Seen) []historyLine {
		out := []historyLine{}
		for _, s := range seen {
			subject := history.Subject{Signature: s.Signature, Key: s.Key}
			out = append(out, historyLine{s, h.Trend(subject, asked.weeks, now),
				h.Escalation(subject, rule, now).Escalated})
		}
		return out
	}
	window := time.Duration(asked.days) * 24 * time.Hour
	known, unknown := lines(h.Signatures(window, now)), lines(h.Uncategorised(window, now))
	if asked.form == "json" {
		return a.document(historyDocument{
			report.NewDocument("triage-history"), h.Builds(), asked.days, known, unknown, h.Problems,
		})
	}
	for _, problem := range h.Problems {
		fmt.Fprintf(a.stderr, "%s: %s\n", a.name(), console.Visible(problem.String()))
	}
	fmt.Fprintf(a.stdout, "%d builds in all. The last %d days:\n", h.Builds(), asked.days)
	if err := historyTable(a.stdout, "SIGNATURE", known); err != nil {
		return err
	}
	return historyTable(a.stdout, "WITHOUT A SIGNATURE", unknown)
}

func historyTable(w io.Writer, title string, lines []historyLine) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintf(w, "\n%s\nnone\n", title)
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\n%s\tBUILDS\tCHANGES\tLAST\tBY WEEK\t\n", title)
	for _, l := range lines {
		name := l.Signature
		if name == "" {
			name = l.Key + " " + l.Message
		}
		escalate := ""
		if l.Escalated {
			escalate = "escalate"
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\n", console.Visible(shortened(name, 60)), l.Count, l.Changes,
			l.Last.UTC().Format("2006-01-02"), weeks(l.Trend), escalate)
	}
	return table.Flush()
}

// weeks is the trend, the oldest week first.
func weeks(trend []history.Week) string {
	var out []string
	for _, week := range trend {
		out = append(out, fmt.Sprint(week.Count))
	}
	return strings.Join(out, " ")
}

// shortened is a text on one line, of so many characters at most.
func shortened(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
