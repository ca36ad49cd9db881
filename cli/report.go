package cli

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // zones are told by name, also where the machine knows none

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/internal/report/postmortem"
	"salve/journal"
	"salve/kube"
)

// reportRequest is what the user asked of salve report.
type reportRequest struct {
	reportFiles
	title        string
	zone         string
	since, until string
	write        string
	merging      postmortem.Merging
	redact       bool
	redactKey    string
	form         string
}

func newReport(a *app) *cobra.Command {
	asked, from := &reportRequest{}, &journalFlags{role: kube.Reader}
	command := &cobra.Command{
		Use: "report RUN|FILE…", Short: "Draft a post-mortem from journals, or check one",
		Long: `Report drafts the post-mortem of an incident from what was recorded: journals of runs and of
pipelines, what salve prow watch printed, triage documents, and chat notes. Each fact names its
source. What only people know is a question, and what the record suggests is a candidate. A FILE is
an incident file, as salve replay --record writes them.

With --write it goes into a file, as HTML if that ends in .html: one page, with a picture of steps,
requests and nodes, that needs no network. Made again, only the blocks between the markers are
replaced; text outside of them stays byte for byte, and a block that was edited by hand is kept.

Exit codes: 0 drafted; 2 wrong usage, or a file can't be read; 4 a record is broken.`,
		Example: `  # The story of a run
  salve report 20261122-021300-4f1a2b --write postmortem.md
  # The same as a page for a browser
  salve report 20261122-021300-4f1a2b --write postmortem.html
  # Of an incident: two runs, what the watch found, and the chat of the day
  salve report 20261122-021300-4f1a2b 20261122-031500-77aa01 --watch watch.jsonl \
    --notes chat.md --notes-date 2026-11-22 --notes-zone America/Los_Angeles --write postmortem.md
  # To be shown to others
  salve report 20261122-021300-4f1a2b --redact`,
		Args: func(command *cobra.Command, runs []string) error {
			if len(runs) == 0 && asked.reportFiles.none() {
				return usage("%s requires a RUN, or a file with --watch, --triage or --notes. hint: salve runs list",
					command.CommandPath())
			}
			return checkRuns(runs)
		},
		RunE: func(command *cobra.Command, runs []string) error {
			if err := asked.settleForm(command.Flags().Changed("output"), a.json()); err != nil {
				return err
			}
			return a.report(command, asked, from, runs)
		},
	}
	from.addFlags(command.Flags())
	asked.addFlags(command.Flags())
	command.Flags().StringVarP(&asked.form, "output", "o", asMarkdown,
		"how to print the draft: "+orList(reportForms())+"; with --write, its ending says so too")
	command.AddCommand(newReportCheck(a))
	return command
}

func (r *reportRequest) addFlags(flags *pflag.FlagSet) {
	r.reportFiles.addFlags(flags)
	flags.StringVar(&r.title, "title", "", "the title (default: what and when)")
	flags.StringVar(&r.zone, "zone", "America/Los_Angeles", "`ZONE` of the timeline, besides UTC")
	flags.StringVar(&r.since, "since", "", "leave out what was before this `TIME`, as 2006-01-02T15:04:05Z")
	flags.StringVar(&r.until, "until", "", "leave out what was after this `TIME`, as 2006-01-02T15:04:05Z")
	flags.StringVar(&r.write, "write", "", "write the draft into `FILE`; in one that there is, replace its blocks alone")
	flags.BoolVar(&r.merging.ReplaceEdited, "replace-edited", false,
		"with --write, replace blocks that were edited by hand too")
	flags.BoolVar(&r.merging.RestoreDeleted, "restore-deleted", false, "with --write, bring back blocks that were deleted")
	flags.BoolVar(&r.redact, "redact", false, "replace names, IDs and addresses by pseudonyms, equal ones by equal ones")
	flags.StringVar(&r.redactKey, "redact-key", "",
		"`FILE` with at least 16 bytes that pseudonyms are made with: the same file gives the same ones (default: a "+
			"random key)")
}

func (a *app) report(command *cobra.Command, asked *reportRequest, from *journalFlags, runs []string) error {
	options, err := asked.options()
	if err != nil {
		return err
	}
	key, err := asked.key()
	if err != nil {
		return err
	}
	sources, err := asked.reportFiles.read()
	if err != nil {
		return err
	}
	a.sayEmpty(sources)
	if len(runs) > 0 {
		if sources.Runs, err = a.histories(command, from, runs); err != nil {
			return err
		}
	}
	draft, err := postmortem.New(sources, options)
	if err != nil {
		return &attentionError{err}
	}
	if asked.redact {
		draft = postmortem.Mask(draft, sources, key)
	}
	if asked.form == asJSON {
		return a.document(draft)
	}
	blocks, err := blocksOf(asked.form, draft)
	if err != nil {
		return err
	}
	if asked.write != "" {
		return a.writeReport(asked, blocks)
	}
	_, err = a.stdout.Write(postmortem.Document(blocks))
	return err
}

// checkRuns refuses what is neither a file nor can be the name of a run.
func checkRuns(runs []string) error {
	for _, run := range runs {
		if isFile(run) {
			continue
		}
		if err := journal.CheckRunName(run); err != nil {
			return usage("%v. hint: salve runs list", err)
		}
	}
	return nil
}

// histories reads the runs and the incident files, each run once.
func (a *app) histories(command *cobra.Command, from *journalFlags, runs []string) ([]*journal.History, error) {
	var histories []*journal.History
	seen := map[string]bool{}
	for _, run := range runs {
		history, err := (*journal.History)(nil), error(nil)
		if isFile(run) {
			history, err = incidentFile(run)
		} else {
			var kept *journal.Location
			if kept, err = a.locate(command, from, run); err != nil {
				return nil, err
			}
			var unseen string
			if history, unseen, err = wholeHistory(command.Context(), kept, run); unseen != "" {
				fmt.Fprintf(a.stderr, "Run %s: %s.\n", run, unseen)
			}
			if err != nil {
				history, err = a.shownUnverified(err)
			}
		}
		if err != nil {
			return nil, err
		}
		if !seen[history.Header.Run] {
			seen[history.Header.Run] = true
			histories = append(histories, history)
		}
	}
	return histories, nil
}

func incidentFile(path string) (*journal.History, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, usage("%s is a folder. hint: salve report RUN --journal %s", path, shell([]string{path}))
	}
	raw, err := readRegular(path, journal.MaxIncident)
	if err != nil {
		return nil, usage("%v", err)
	}
	if isTriage(raw) {
		return nil, usage("%s is of a triage. hint: --triage takes what salve triage --output json prints", path)
	}
	return incidentOf(path, raw)
}

// sayEmpty names the files of notes in which no message was found: that is hardly what their giver expects.
func (a *app) sayEmpty(sources postmortem.Sources) {
	for _, file := range sources.Notes {
		if len(file.Notes) == 0 {
			fmt.Fprintf(a.stderr, "--notes %s: 0 messages found. hint: docs/reports.md has the forms that are read\n", file.Name)
		}
	}
}

func (r *reportRequest) options() (postmortem.Options, error) {
	options := postmortem.Options{Title: r.title}
	var err error
	if options.Zone, err = zone("--zone", r.zone); err != nil {
		return options, err
	}
	if options.Since, err = bound("--since", r.since); err != nil {
		return options, err
	}
	if options.Until, err = bound("--until", r.until); err != nil {
		return options, err
	}
	switch {
	case r.since != "" && r.until != "" && options.Until.Before(options.Since):
		return options, usage("--until %s is before --since %s", r.until, r.since)
	case r.write != "" && r.form == asJSON:
		return options, usage("--write writes Markdown or HTML: --output json can't be written into a file that people edit")
	case r.write == "" && (r.merging.ReplaceEdited || r.merging.RestoreDeleted):
		return options, usage("--replace-edited and --restore-deleted require --write")
	}
	return options, nil
}

func bound(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, usage("%s %q: it must be a time with a zone, such as 2026-02-05T13:04:05Z", flag, text)
	}
	return at, nil
}

// zone is one by name; Local depends on who asks.
func zone(flag, name string) (*time.Location, error) {
	found, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") || name == "" {
		return nil, usage("%s %q: it must be a zone by name, such as America/Los_Angeles or UTC", flag, name)
	}
	return found, nil
}

// key is what pseudonyms are made with.
func (r *reportRequest) key() ([]byte, error) {
	const least, most = 16, 1 << 16
	switch {
	case r.redactKey != "" && !r.redact:
		return nil, usage("--redact-key requires --redact")
	case !r.redact:
		return nil, nil
	case r.redactKey == "":
		if _, err := os.Stat(r.write); r.write != "" && err == nil {
			return nil, usage("--redact into %s, which there is, requires --redact-key: with another key its pseudonyms would "+
				"be others than those in the text around the blocks", r.write)
		}
		key := make([]byte, 2*least)
		rand.Read(key)
		return key, nil
	}
	key, err := readBounded(r.redactKey, most)
	switch {
	case err != nil:
		return nil, usage("--redact-key: %v", err)
	case len(key) < least:
		return nil, usage("--redact-key %s has %d bytes, it must have at least %d. hint: head -c 32 /dev/urandom > %s",
			r.redactKey, len(key), least, r.redactKey)
	}
	return key, nil
}
