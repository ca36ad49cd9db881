package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"salve/internal/apierr"
	"salve/internal/report"
	"salve/journal"
)

// isUnseen tells whether an error says that a record could not be seen or verified, rather than what is wrong with it.
func isUnseen(err error) bool {
	var unverified *journal.UnverifiedError
	return errors.As(err, &unverified) || passing(apierr.ClassOf(err))
}

// unverified is the line of a run whose record nobody vouches for here: what the record says is told as its word.
func (a *app) unverified(run string, err error) report.Listed {
	var unverified *journal.UnverifiedError
	if !errors.As(err, &unverified) {
		return report.Listed{Run: run, Standing: report.Unbelieved(report.RecordUnverified),
			State: report.StateUnverified, Reason: a.worded(err)}
	}
	return report.ListUnverified(unverified.History, a.whyUnverified(unverified))
}

// whyUnverified says why the seal was not verified. Hints are left out: they are for who makes keys, and no reader
// needs one.
func (a *app) whyUnverified(unverified *journal.UnverifiedError) string {
	why := a.worded(unverified.Err)
	var key *journal.KeyError
	if errors.As(unverified.Err, &key) {
		why = fmt.Sprintf("the key of runbook %s in %s: %s", key.Runbook, key.Where, a.worded(key.Err))
	}
	why, _, _ = strings.Cut(why, ". hint:")
	return "its seal can't be verified without the key: " + why
}

// readHistory reads a run to show it. A record that can't be verified is shown too, and that is said.
func (a *app) readHistory(command *cobra.Command, from *journalFlags, run string) (*journal.History, error) {
	_, record, err := a.load(command, from, run)
	if err != nil {
		return a.shownUnverified(err)
	}
	return record.History, nil
}

// shownUnverified gives what an unverified record says, once it is told that it is only its word; or else the error.
func (a *app) shownUnverified(err error) (*journal.History, error) {
	var unverified *journal.UnverifiedError
	if !errors.As(err, &unverified) {
		return nil, err
	}
	fmt.Fprintf(a.stderr, "Unverified: what follows is what the record of run %s says; %s\n", unverified.Run,
		a.whyUnverified(unverified))
	a.exit = max(a.exit, exitUndecided)
	return unverified.History, nil
}
