package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"salve/journal"
	"salve/report"
)

func newRuns(a *app) *cobra.Command {
	command := parent("runs", "List, show and abandon runs")
	command.AddCommand(newRunsList(a), newRunsShow(a), newAbandon(a))
	return command
}

// load opens the journal in a folder and reads a run from it.
func (a *app) load(ctx context.Context, folder, run string) (*journal.File, *journal.Record, error) {
	kept, err := a.openJournal(folder)
	if err != nil {
		return nil, nil, err
	}
	record, err := loadRecord(ctx, kept, run)
	return kept, record, err
}

// loadRecord reads a run. A record without a header is half a journal: the
// process died before anything else.
func loadRecord(ctx context.Context, kept *journal.File, run string) (*journal.Record, error) {
	record, err := journal.Load(ctx, kept, run)
	if err != nil {
		return nil, err
	}
	if len(record.Entries) == 0 {
		return nil, &attention{fmt.Errorf("the journal of run %q is empty: the process died before it wrote what it would do, so nothing was changed; remove the run's folder in %s", run, kept.Dir())}
	}
	return record, nil
}

func newRunsList(a *app) *cobra.Command {
	var folder string
	command := &cobra.Command{
		Use: "list", Short: "List the runs in the journal, oldest first", Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			kept, err := a.openJournal(folder)
			if err != nil {
				return err
			}
			return a.list(command.Context(), kept)
		},
	}
	addJournal(command.Flags(), &folder)
	return command
}

func (a *app) list(ctx context.Context, kept *journal.File) error {
	names, err := kept.Runs(ctx)
	if err != nil {
		return fmt.Errorf("listing the journal at %s: %w", kept.Dir(), err)
	}
	listed, open, broken := []report.Listed{}, 0, 0
	for _, name := range names {
		record, err := loadRecord(ctx, kept, name)
		if err != nil {
			listed = append(listed, report.Listed{Run: name, State: "broken", Reason: err.Error()})
			broken++
			continue
		}
		listed = append(listed, report.List(record.History))
		if record.Closed == nil {
			open++
		}
	}
	if broken > 0 {
		a.exit = exitNeedsAttention
	}
	says := fmt.Sprintf("%s in %s: %d open, %d broken.", report.Count(len(listed), "run", "runs"), kept.Dir(), open, broken)
	if a.json() {
		fmt.Fprintln(a.stderr, says)
		return a.document(struct {
			report.Document
			Runs []report.Listed `json:"runs"`
		}{report.NewDocument("runs"), listed})
	}
	if len(listed) > 0 {
		err = errors.Join(report.Runs(a.stdout, a.width(), listed), blank(a))
	}
	fmt.Fprintln(a.stdout, says)
	return err
}

func blank(a *app) error {
	_, err := fmt.Fprintln(a.stdout)
	return err
}

func newRunsShow(a *app) *cobra.Command {
	var folder string
	command := &cobra.Command{
		Use: "show RUN", Short: "Print the timeline of a run", Args: oneArgument("the name of a run"),
		RunE: func(command *cobra.Command, arguments []string) error {
			_, record, err := a.load(command.Context(), folder, arguments[0])
			if err != nil {
				return err
			}
			return a.show(record.History, folder)
		},
	}
	addJournal(command.Flags(), &folder)
	return command
}

// show prints a run's timeline, its checks, and how it stands.
func (a *app) show(history *journal.History, folder string) error {
	says := report.Stands(history, resuming(history, folder))
	if a.json() {
		story, err := report.NewStory(history)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stderr, says)
		return a.document(story)
	}
	if err := showStory(a, history); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, says)
	return nil
}

// resuming is the command that goes on with a run.
func resuming(history *journal.History, folder string) string {
	words := []string{"salve", "resume", history.Header.Run}
	if folder != "" {
		words = append(words, "--journal", folder)
	}
	return shell(words)
}
