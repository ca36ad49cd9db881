package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/report"
	"salve/journal"
	"salve/journal/configmap"
)

func newExport(a *app) *cobra.Command {
	from := &journalFlags{}
	command := &cobra.Command{
		Use:   "export RUN FOLDER",
		Short: "Bring a run's record to a journal in a folder",
		Long: `Bring a run's record to a journal in a folder. A closed run is copied. An open one is
moved: it is closed where it was, and continues from the folder.`,
		Example: `  # Take a record out of the cluster before the cluster is deleted; an open run goes on from the folder
  salve runs export 20261122-021300-4f1a2b ./journal --kubeconfig ~/.kube/config
  salve runs show 20261122-021300-4f1a2b --journal ./journal`,
		Args: aRun("the folder of a journal"),
		RunE: func(command *cobra.Command, arguments []string) error {
			kept, err := a.locate(command, from, arguments[0])
			if err != nil {
				return err
			}
			there := &journalFlags{back: []string{"--journal", arguments[1]}}
			to, err := a.inFolder(arguments[1])
			if err != nil {
				return err
			}
			return a.migrate(command, arguments[0], kept, to, there)
		},
	}
	from.addFlags(command.Flags())
	return command
}

func newImport(a *app) *cobra.Command {
	to := &journalFlags{}
	command := &cobra.Command{
		Use:   "import RUN FOLDER",
		Short: "Bring a run's record from a journal in a folder",
		Long: `Bring a run's record from a journal in a folder to the journal that the flags name.
A closed run is copied. An open one is moved: it is closed in the folder, and goes
on where it is brought.`,
		Example: `  # Bring a run that began without the cluster's API into the cluster, and resume it there
  salve runs import 20261122-021300-4f1a2b ./journal --kubeconfig ~/.kube/config
  salve resume 20261122-021300-4f1a2b --kubeconfig ~/.kube/config`,
		Args: aRun("the folder of a journal"),
		RunE: func(command *cobra.Command, arguments []string) error {
			kept, err := to.destination(command, a)
			if err != nil {
				return err
			}
			folder, err := a.inFolder(arguments[1])
			if err != nil {
				return err
			}
			return a.migrate(command, arguments[0], folder, kept, to)
		},
	}
	to.addFlags(command.Flags())
	return command
}

// migratedDocument is the run that was brought to another journal.
type migratedDocument struct {
	report.Document
	Run report.Listed `json:"run"`
}

// migrate brings a record from one journal to another and says where it stands.
func (a *app) migrate(command *cobra.Command, run string, from, to *journal.Location, there *journalFlags) error {
	if err := identify(command.Context(), from, to); err != nil {
		return err
	}
	if from.ID == to.ID {
		return usage("the record is to go from %s to %s: that is where it is", from.Where, to.Where)
	}
	migration := journal.Migration{Run: run, From: *from, To: *to, Holder: a.holder(), Now: time.Now}
	record, err := migration.Migrate(command.Context())
	if err != nil {
		return err
	}
	says := fmt.Sprintf("Run %s, %s, is now in %s.", run, report.Count(len(record.Entries), "entry", "entries"), to.Where)
	if a.json() {
		fmt.Fprintln(a.stderr, says)
		return a.document(migratedDocument{report.NewDocument("migrated"), report.List(record.History)})
	}
	fmt.Fprintln(a.stdout, says)
	if record.Closed == nil {
		fmt.Fprintln(a.stdout, "To go on: "+resuming(record.History, there))
	}
	return nil
}

// identify asks clusters who they are: a record is moved to one place only.
func identify(ctx context.Context, places ...*journal.Location) error {
	for _, place := range places {
		if kept, inCluster := place.Backend.(*configmap.Journal); inCluster {
			id, err := kept.ID(ctx)
			if err != nil {
				return err
			}
			place.ID = id
		}
		if place.ID == "" {
			return usage("%s can't be told from other places: this host has no name, or the folder no path", place.Where)
		}
	}
	return nil
}
