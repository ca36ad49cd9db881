package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/apierr"
	"salve/internal/report"
	"salve/journal"
	"salve/journal/configmap"
)

// runsDocument is the runs of a journal.
type runsDocument struct {
	report.Document
	Runs []report.Listed `json:"runs"`
}

// listFrom lists the runs in the first place, and says where there may be more.
func (a *app) listFrom(command *cobra.Command, from *journalFlags) error {
	if err := from.read(a, command.Flags()); err != nil {
		return err
	}
	places, err := from.places(a)
	if err != nil {
		return err
	}
	kept, err := places[0].open(command.Context())
	if err != nil {
		return err
	}
	return a.list(command.Context(), kept, func(none bool) string {
		return from.elsewhere(command.Context(), a, places, none)
	})
}

// listing is the runs of a journal, and how many of them are in which state.
type listing struct {
	rows                     []report.Listed
	open, broken, unverified int
	lost                     bool
}

func (a *app) list(ctx context.Context, kept *journal.Location, elsewhere func(none bool) string) error {
	names, err := kept.Runs(ctx)
	if err != nil {
		return fmt.Errorf("listing the journal at %s: %w", kept.Where, err)
	}
	found := a.listing(ctx, kept, names)
	unlisted, unseen := a.leasedRuns(ctx, kept, names)
	for _, one := range unlisted {
		found.rows = append(found.rows, one)
		found.open++
		found.lost = found.lost || one.State == stateLost
	}
	if unseen != nil {
		fmt.Fprintf(a.stderr, "Runs that only a lease names can't be seen: %s.\n", a.worded(unseen))
		a.exit = max(a.exit, exitUndecided)
	}
	if len(found.rows) == 0 && unseen == nil {
		if err := a.existing(ctx, kept, elsewhere); err != nil {
			return err
		}
	}
	return a.showListing(found, kept, elsewhere(len(found.rows) == 0))
}

// listing reads the runs of these names.
func (a *app) listing(ctx context.Context, kept *journal.Location, names []string) listing {
	found := listing{rows: []report.Listed{}}
	for _, name := range names {
		record, err := loadRecord(ctx, kept, name)
		switch {
		case err == nil:
			found.rows = append(found.rows, report.List(record.History))
			if record.Closed == nil {
				found.open++
			}
		case isUnseen(err):
			found.rows = append(found.rows, a.unverified(name, err))
			found.unverified++
		default:
			found.rows = append(found.rows, report.Listed{Run: name, Standing: report.Unbelieved(report.RecordBroken),
				State: report.StateBroken, Reason: err.Error()})
			found.broken++
		}
	}
	return found
}

// existing tells a journal that is empty from one that does not exist: a list of what is in a namespace that isn't
// there is empty as well. Who may not see the namespace, and may list what is in it, is believed to have been
// given that.
func (a *app) existing(ctx context.Context, kept *journal.Location, elsewhere func(none bool) string) error {
	there, inCluster := kept.Backend.(*configmap.Journal)
	if !inCluster {
		return nil
	}
	err := there.Exists(ctx)
	switch {
	case apierr.ClassOf(err) == apierr.Missing:
		return usage("journal not found: %s does not exist, so that no run was recorded there.%s", kept.Where,
			elsewhere(true))
	case err != nil && apierr.ClassOf(err) != apierr.Denied:
		return &unseenError{fmt.Errorf("looking whether there is a journal at %s: %w", kept.Where, err)}
	}
	return nil
}

func (a *app) showListing(found listing, kept *journal.Location, more string) (err error) {
	if found.unverified > 0 {
		a.exit = max(a.exit, exitUndecided)
	}
	if found.broken > 0 || found.lost {
		a.exit = exitNeedsAttention
	}
	for i := range found.rows {
		found.rows[i].Reason = a.ownCommands(found.rows[i].Reason)
	}
	slices.SortStableFunc(found.rows, func(one, other report.Listed) int {
		return cmp.Or(begun(one).Compare(begun(other)), strings.Compare(one.Run, other.Run))
	})
	says := fmt.Sprintf("%s in %s: %d open, %d broken", report.Count(len(found.rows), "run", "runs"), kept.Where,
		found.open, found.broken)
	if found.unverified > 0 {
		says += fmt.Sprintf(", %d unverified", found.unverified)
	}
	says += "." + more
	if a.json() {
		fmt.Fprintln(a.stderr, says)
		return a.document(runsDocument{report.NewDocument("runs"), found.rows})
	}
	if len(found.rows) > 0 {
		err = errors.Join(a.runsTable(found.rows), blank(a))
	}
	fmt.Fprintln(a.stdout, says)
	return err
}

// begun is when a run began; where its record does not say so, its name may.
func begun(run report.Listed) time.Time {
	const form = "20060102-150405"
	if !run.Opened.IsZero() || len(run.Run) < len(form) {
		return run.Opened
	}
	named, err := time.Parse(form, run.Run[:len(form)])
	if err != nil {
		return time.Time{}
	}
	return named
}

// runsTable writes the runs, with all columns where they are asked for.
func (a *app) runsTable(listed []report.Listed) error {
	if !a.wide() {
		return report.Runs(a.stdout, a.width(), listed)
	}
	var rows [][]string
	for _, run := range listed {
		opened := ""
		if !run.Opened.IsZero() {
			opened = run.Opened.UTC().Format(time.DateTime)
		}
		took := time.Duration(run.Took * float64(time.Second)).Round(time.Second).String()
		rows = append(rows, []string{run.Run, run.Runbook, run.Target, opened, took, run.State, run.Reason})
	}
	heading := []string{"RUN", "RUNBOOK", "TARGET", "OPENED (UTC)", "TOOK", "STATE", "REASON"}
	return report.Table(a.stdout, a.width(), heading, rows)
}

// The states of open runs that leases name and the journal does not list.
const (
	stateLost      = "open, record lost"
	stateElsewhere = "open elsewhere"
)

// leasedRuns are the open runs that leases name and that are not among those whose records were found.
func (a *app) leasedRuns(ctx context.Context, kept *journal.Location, found []string) ([]report.Listed, error) {
	open, err := kept.OpenRuns(ctx)
	if err != nil {
		return nil, err
	}
	var unlisted []report.Listed
	for _, one := range open {
		if slices.Contains(found, one.Run) {
			continue // what its record says is listed, also of one that was migrated from here
		}
		if err := journal.CheckRunName(one.Run); err != nil {
			return nil, fmt.Errorf("a lease in %s was edited: %w", kept.Where, err)
		}
		row := report.Listed{Run: one.Run, Runbook: one.Runbook, Target: one.Target,
			Standing: report.LeasedOnly(report.RecordElsewhere), State: stateElsewhere,
			Reason: "the lease names it as open; its record is in " + one.Location}
		if one.Location == kept.Location() {
			lost := &journal.LostRecordError{Open: one}
			row.Standing, row.State, row.Reason = report.LeasedOnly(report.RecordLost), stateLost, lost.Error()
		}
		unlisted = append(unlisted, row)
	}
	return unlisted, nil
}
