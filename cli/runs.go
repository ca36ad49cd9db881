package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/journal"
	"salve/kube"
)

func newRuns(a *app) *cobra.Command {
	command := parent("runs", "List, show, move and abandon runs")
	command.AddCommand(newRunsList(a), newRunsShow(a), newExport(a), newImport(a), newAbandon(a), newPrune(a))
	return command
}

// load opens the journal and reads a run from it.
func (a *app) load(command *cobra.Command, from *journalFlags, run string) (*journal.Location, *journal.Record, error) {
	kept, err := a.locate(command, from, run)
	if err != nil {
		return nil, nil, err
	}
	record, err := loadRecord(command.Context(), kept, run)
	return kept, record, err
}

// openJournal opens the journal that flags and environment name first.
func (a *app) openJournal(command *cobra.Command, from *journalFlags) (*journal.Location, error) {
	if err := from.read(a, command.Flags()); err != nil {
		return nil, err
	}
	places, err := from.places(a)
	if err != nil {
		return nil, err
	}
	return places[0].open(command.Context())
}

// loadRecord reads a run. A record without a header is half a journal: the
// process died before anything else.
func loadRecord(ctx context.Context, kept *journal.Location, run string) (*journal.Record, error) {
	record, err := journal.Load(ctx, kept, run)
	var missing *journal.MissingError
	switch {
	case errors.As(err, &missing):
		return nil, lostOr(ctx, kept, run, err)
	case err != nil:
		return nil, err
	}
	if len(record.Entries) == 0 {
		return nil, &attentionError{fmt.Errorf("broken record: run %q in %s has no entry: "+
			"its process died before the first one, or the record was cut. "+
			"hint: salve runs abandon %s --target ID --reason TEXT, then salve runs prune --broken", run, kept.Where, run)}
	}
	return record, nil
}

// wholeHistory reads a run that is only looked at, and refuses it when its lease knows that it was cut. unseen says
// why that could not be asked.
func wholeHistory(
	ctx context.Context, kept *journal.Location, run string,
) (history *journal.History, unseen string, err error) {
	record, err := loadRecord(ctx, kept, run)
	if err != nil {
		return nil, "", err
	}
	var broken *journal.BrokenError
	err = record.VerifyWhole(ctx, kept)
	switch {
	case errors.As(err, &broken):
		return nil, "", err
	case err != nil:
		unseen = fmt.Sprintf("whether the record was cut can't be seen: %v", err)
	}
	return record.History, unseen, nil
}

// lostOr is what is wrong with a run that has no record: a lease may still know of it.
func lostOr(ctx context.Context, kept *journal.Location, run string, missing error) error {
	open, err := kept.OpenRuns(ctx)
	if err != nil {
		return &unseenError{errors.Join(missing, err)}
	}
	for _, named := range open {
		if named.Run == run && named.Location == kept.Location() {
			return &journal.LostRecordError{Open: named}
		}
	}
	return missing
}

func newRunsList(a *app) *cobra.Command {
	from := &journalFlags{role: kube.Reader}
	command := &cobra.Command{
		Use: "list", Short: "List the runs in the journal, oldest first", Args: noArguments,
		Example: `  # The runs of the cluster that $KUBECONFIG leads to
  salve runs list
  # With runbook and beginning
  salve runs list -o wide
  # The names of those that are open
  salve runs list -o jsonpath='{.runs[?(@.phase=="open")].run}'`,
		RunE: func(command *cobra.Command, _ []string) error {
			return a.listFrom(command, from)
		},
	}
	from.addFlags(command.Flags())
	return command
}

func blank(a *app) error {
	_, err := fmt.Fprintln(a.stdout)
	return err
}

func newRunsShow(a *app) *cobra.Command {
	from, requests, exports, names := &journalFlags{role: kube.Reader}, false, false, []string{}
	command := &cobra.Command{
		Use: "show RUN", Short: "Print the timeline of a run, what it sent to change something, or what it exported",
		Long: `Print the timeline of a run, what it sent to change something, or what it exported:
whole objects as they were before they were deleted, which the record itself does not
hold. They are printed as they were kept, passwords in them included. In a cluster
that takes the right to get Secrets in namespace salve-system-exports, which the role
salve-exports of deploy/exports-role.yaml gives.`,
		Args: aRun(),
		Example: `  # What happened, in order
  salve runs show 20261122-021300-4f1a2b
  # Every changing request that was sent, with its permit and its answer
  salve runs show 20261122-021300-4f1a2b --requests
  # What it exported before it deleted something, and one of that whole
  salve runs show 20261122-021300-4f1a2b --exports
  salve runs show 20261122-021300-4f1a2b --export bundle-0 > leftovers.json.gz`,
		RunE: func(command *cobra.Command, arguments []string) error {
			if requests && exports || len(names) > 0 && (requests || exports) {
				return usage("--requests, --exports and --export together: name one of them")
			}
			if len(names) > 0 {
				_, record, err := a.load(command, from, arguments[0])
				if err != nil {
					return err
				}
				return a.printExports(command.Context(), record, names)
			}
			history, err := a.readHistory(command, from, arguments[0])
			switch {
			case err != nil:
				return err
			case exports:
				return a.listExports(history)
			case requests:
				return a.showRequests(history)
			}
			return a.show(history, from)
		},
	}
	from.addFlags(command.Flags())
	command.Flags().BoolVar(&requests, "requests", false,
		"print every changing request that was sent: method, path, permit, status, count")
	command.Flags().BoolVar(&exports, "exports", false, "list what the run exported: name, size, digest")
	command.Flags().StringArrayVar(&names, "export", nil,
		"print the export of this `NAME` as it was kept (repeatable: one after the other)")
	return command
}

// showRequests prints the audit trail of a run.
func (a *app) showRequests(history *journal.History) error {
	trail, err := report.NewRequestTrail(history)
	if err != nil {
		return err
	}
	says := fmt.Sprintf("%s sent by run %s.", report.Count(sent(trail), "changing request", "changing requests"),
		history.Header.Run)
	if trail.Unlisted > 0 {
		says = fmt.Sprintf("%s %d of them are not listed.", says, trail.Unlisted)
	}
	if a.json() {
		fmt.Fprintln(a.stderr, says)
		return a.document(trail)
	}
	if len(trail.Requests) > 0 {
		if err := errors.Join(report.Requests(a.stdout, a.width(), trail), blank(a)); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.stdout, says)
	return nil
}

// sent counts the requests, alike ones too.
func sent(trail report.RequestTrail) int {
	count := trail.Unlisted
	for _, one := range trail.Requests {
		count += one.Count
	}
	return count
}

// show prints a run's timeline, its checks, and how it stands.
func (a *app) show(history *journal.History, from *journalFlags) error {
	next := report.Next{Resume: resuming(history, from), Approve: approving(history, from)}
	if history.Header.Rehearsal != "" {
		next = report.Next{Rehearse: history.Header.Command}
	}
	says := a.hints(report.Stands(history, next), history.Header.Route)
	if a.json() {
		story, err := report.NewStory(history)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.stderr, says)
		return a.document(story)
	}
	if err := showStory(a, a.told(history)); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, says)
	return nil
}

// resuming is the command that resumes a run.
func resuming(history *journal.History, from *journalFlags) string {
	return shell(append([]string{"salve", "resume", history.Header.Run}, from.wayBack("resume", history.Header.Route)...))
}

// approving is the command that approves the plan of a run; empty when it does not wait.
func approving(history *journal.History, from *journalFlags) string {
	if history.Asked == nil {
		return ""
	}
	return shell(from.approving(history.Header.Run, history.Asked.Digest))
}
