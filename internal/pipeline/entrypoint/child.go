package entrypoint

import (
	"context"
	"errors"
	"fmt"

	"salve/internal/apierr"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// noteOf is the name under which the run is in the record that rolls a service group out.
func noteOf(group string) string { return "run of " + group }

// RunOf is the run that rolls a service group out, by the record of an entrypoint's run; empty where none is named yet.
func RunOf(whole *journal.History, group string) (string, error) {
	var run string
	_, err := whole.Recall(noteOf(group), &run)
	return run, err
}

// child is the run of a service group's pipeline, as far as it is known.
type child struct {
	// run is empty where none was written down yet.
	run string
	// record is nil where the run has none: it never began, or its record is not kept any more.
	record *journal.Record
	// blank: the record was made and nothing written into it, because its process died in between. No run begins under
	// a name that is taken.
	blank bool
}

// rolledOut tells whether the run ended well.
func (c child) rolledOut() bool {
	return c.record != nil && c.record.Closed != nil && c.record.Closed.Outcome == runbook.RolledOut
}

// over tells whether the run ended, well or not: it can't be resumed.
func (c child) over() bool { return c.record != nil && c.record.Closed != nil }

// child finds the run that the record names, and no other: a run of the name that is on another target is none of ours.
func (w *work) child(ctx context.Context, run runbook.Run, group Group) (child, error) {
	var found child
	if known, err := run.Recall(noteOf(group.Name), &found.run); err != nil || !known {
		return found, err
	}
	record, err := journal.Load(ctx, w.runner.Journal, found.run)
	var missing *journal.MissingError
	switch {
	case errors.As(err, &missing):
		return found, nil
	case err == nil && len(record.Entries) == 0:
		found.blank = true
		return found, nil
	case err != nil:
		return found, fmt.Errorf("reading run %s: %w", found.run, err)
	}
	if header := record.Header; header.Runbook != rollout.Name || header.Target.ID != group.Plan.Target().ID {
		return found, apierr.New(apierr.Terminal, "run %s is of %s on %s, and not of the pipeline of service group %s",
			found.run, header.Runbook, header.Target.ID, group.Name)
	}
	found.record = record
	return found, nil
}

// observe tells from the record of a service group's pipeline how far that is.
func (w *work) observe(ctx context.Context, run runbook.Run, group Group) runbook.Observation {
	child, err := w.child(ctx, run, group)
	switch {
	case err != nil:
		return runbook.NotObserved(err)
	case child.run == "":
		return runbook.NotStarted("no run rolls it out yet")
	case child.rolledOut():
		return runbook.Done("run %s: %s", child.run, child.record.Closed.Reason)
	case child.over():
		return runbook.NotStarted("run %s ended: %s", child.run, child.record.Closed.Reason).Partially()
	case child.record != nil:
		return runbook.NotStarted("run %s has not ended", child.run).Partially()
	}
	return w.observeLost(ctx, group, child.run)
}

// observeLost tells what became of a run without a record: the process died before it began, unless the lease on its
// target knows of it.
func (w *work) observeLost(ctx context.Context, group Group, run string) runbook.Observation {
	peeked, err := w.runner.Journal.Peek(ctx, group.Plan.Target().ID)
	switch {
	case err != nil:
		return runbook.NotObserved(err)
	case peeked.Open != nil && peeked.Open.Run == run:
		return runbook.Undecidable(
			fmt.Sprintf("Was service group %s rolled out? Its run %s began, and there is no record of it any more.",
				group.Name, run), "the record of run %s is gone", run)
	}
	return runbook.NotStarted("run %s has not begun", run)
}
